"""A real vLLM engine in a process of its own: new weights reach it, and its death is noticed."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
import torch
from agents_helpers import end_ids, random_prompts
from vllm_helpers import CLOSE, largest_error, perturb

from agents.config import EngineConfig
from agents.generation import EngineError, Sampling
from agents.policy import load_policy
from agents.schedule import seeds_of

pytestmark = [pytest.mark.usefixtures("needs_vllm"), pytest.mark.slow]

MAZE = Path(__file__).resolve().parents[2] / "agents" / "policies" / "Maze-v0"


def test_the_engine_in_a_process_of_its_own_takes_weights_and_its_death_is_an_error() -> None:
    """The process is killed while responses are under way, as a kernel does that is out of memory."""
    from agents.generation.vllm_backend import VllmGenerator

    model = load_policy(str(MAZE), torch.device("cpu"), torch.float32).model
    before = set(psutil.Process().children(recursive=True))
    generator = VllmGenerator(
        model, list(end_ids(model)), EngineConfig(multi_process=True, cache_gib=0.25), 256, rows=4
    )
    prompts, seeds, greedy = random_prompts(model.config.vocab_size, (150,) * 4), [0] * 4, Sampling(10, 0.0)
    for _ in range(2):
        done = generator.generate(prompts, 1, greedy, seeds)
        assert largest_error(model, prompts, done, greedy) < CLOSE
        perturb(model)
        assert largest_error(model, prompts, done, greedy) > 100 * CLOSE
        generator.sync(model)

    many = random_prompts(model.config.vocab_size, (20,) * 200)
    stream = generator.stream(many, 1, Sampling(100, 2.0), seeds_of([0], 200))
    next(stream)
    (core,) = [p for p in set(psutil.Process().children(recursive=True)) - before if "EngineCore" in p.name()]
    core.kill()
    with pytest.raises(EngineError, match="the vLLM engine failed while generating"):
        list(stream)
    with pytest.raises(EngineError, match="cannot be used any more"):
        generator.sync(model)
    generator.close()
