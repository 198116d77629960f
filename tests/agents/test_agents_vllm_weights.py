"""A real vLLM engine serves the weights that were synchronised last, and nothing of the old ones."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import PreTrainedModel
from vllm_helpers import CLOSE, GREEDY, build_engine, largest_error, load_model, perturb, prompts_for

from agents.generation import Generator

pytestmark = [pytest.mark.usefixtures("needs_vllm"), pytest.mark.slow]


@pytest.fixture(scope="module", params=["Maze-v0", "ToolRL-v0", "SmolLM2-135M"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[PreTrainedModel, Generator]]:
    """A GPT-2, a Llama and a real model, all with tied embeddings, and an engine that serves each. The tests change the
    weights."""
    model = load_model(request.getfixturevalue("smollm2") if request.param.startswith("Smol") else request.param)
    generator = build_engine(model)
    yield model, generator
    generator.close()


def test_new_weights_are_served_after_sync(served: tuple[PreTrainedModel, Generator]) -> None:
    """All parameters change; the same prompts are asked before, so that their prefixes are cached, and after.

    Fails without the reset of the prefix cache, and without the renewal of the tied output head.
    """
    model, generator = served
    prompts, seeds = prompts_for(model), [0] * 4
    generator.sync(model)
    before = generator.generate(prompts, 1, GREEDY, seeds)
    assert largest_error(model, prompts, before, GREEDY) < CLOSE
    for round_ in range(2):
        perturb(model, round_)
        assert largest_error(model, prompts, before, GREEDY) > 100 * CLOSE  # the weights have changed enough to be seen
        generator.sync(model)
        for _ in range(2):  # the second time out of the cache
            done = generator.generate(prompts, 1, GREEDY, seeds)
            assert largest_error(model, prompts, done, GREEDY) < CLOSE


def test_lora_adapters_are_served_merged_and_the_model_is_not_touched(
    served: tuple[PreTrainedModel, Generator],
) -> None:
    """The engine gives what peft gives with the adapters beside the weights."""
    original, generator = served
    options = LoraConfig(r=4, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")
    adapted = get_peft_model(copy.deepcopy(original), options)
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if "lora_B" in name:  # zero at first, so that adapters change nothing
                parameter.normal_(std=0.1, generator=torch.Generator().manual_seed(0))
    before = {name: value.clone() for name, value in adapted.state_dict().items()}
    generator.sync(adapted.get_base_model())  # where peft has put the adapters
    prompts = prompts_for(original)
    done = generator.generate(prompts, 1, GREEDY, [0] * 4)
    assert largest_error(adapted, prompts, done, GREEDY) < CLOSE
    assert largest_error(original, prompts, done, GREEDY) > 100 * CLOSE
    assert all(torch.equal(value, before[name]) for name, value in adapted.state_dict().items())


def test_adapters_that_are_not_plain_lora_are_refused(served: tuple[PreTrainedModel, Generator]) -> None:
    original, generator = served
    options = LoraConfig(r=4, target_modules="all-linear", use_dora=True, task_type="CAUSAL_LM")
    with pytest.raises(ValueError, match="plain LoRA adapters can be merged, without DoRA"):
        generator.sync(get_peft_model(copy.deepcopy(original), options).get_base_model())
