"""A real vLLM engine in a process of its own: new weights reach it, and its death is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
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


TRAINER = """
import sys, time, psutil, torch
from agents.config import EngineConfig
from agents.generation.vllm_backend import VllmGenerator
from agents.policy import load_policy

if __name__ == "__main__":
    model = load_policy(sys.argv[1], torch.device("cpu"), torch.float32).model
    VllmGenerator(model, [0], EngineConfig(multi_process=True, cache_gib=0.25), 64, rows=4)
    print("pids", *(p.pid for p in psutil.Process().children(recursive=True)), flush=True)
    time.sleep(600)
"""


def test_the_engine_does_not_outlive_a_trainer_that_is_killed(tmp_path: Path) -> None:
    """An orphan would hold the device's memory, and the resumed run would find none."""
    script = tmp_path / "trainer.py"
    script.write_text(TRAINER)
    words = [sys.executable, str(script), str(MAZE)]
    path = {"PYTHONPATH": str(MAZE.parents[2])}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, **path}) as trainer:
        assert trainer.stdout is not None
        line = next(line for line in trainer.stdout if line.startswith("pids"))
        trainer.kill()
    processes = [psutil.Process(int(pid)) for pid in line.split()[1:] if psutil.pid_exists(int(pid))]
    _, alive = psutil.wait_procs(processes, timeout=30)
    left = [p.name() for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    for process in alive:
        process.kill()
    assert not left
