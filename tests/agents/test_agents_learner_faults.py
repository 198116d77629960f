"""What the learner survives: a lack of memory, and losses and gradients that are not finite."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from agents_helpers import family_model, sampled_rollouts
from torch import Tensor, nn
from transformers import PreTrainedModel

from agents.checkpoint import latest_checkpoint
from agents.config import LearnerConfig, SamplingConfig, TrainConfig
from agents.faults import Fault
from agents.learner import Learner
from agents.rollout import Rollouts
from agents.train_vpo import train

CONFIG = LearnerConfig(lr=1e-4, mini_batch=64, micro_batch=4, kl_coef=0.05, max_skipped=3)
ADVANTAGES = torch.tensor([[1.5, -0.5, 0.0, -1.0], [0.3, 0.3, -2.0, 1.4], [-0.7, 0.1, 0.9, -0.3]])
CUDA = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.\nGPU 0 has ...")
CPU = RuntimeError("[enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: can't allocate memory: you tried ...")


@pytest.fixture
def model() -> PreTrainedModel:
    """In double precision, so that Adam does not turn rounding into updates."""
    return family_model("llama", 60).double()


@pytest.fixture
def rollouts(model: PreTrainedModel) -> Rollouts:
    return sampled_rollouts(model, (5, 9, 2), group_size=4)


def weights(model: PreTrainedModel) -> list[Tensor]:
    return [p.detach().clone() for p in model.parameters()]


def largest_difference(a: list[Tensor], b: list[Tensor]) -> float:
    return max(float((p - q).abs().max()) for p, q in zip(a, b, strict=True))


class FailsAt(torch.autograd.Function):
    """Nothing, but its backward pass raises when asked to."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, fault: Fail) -> Tensor:
        ctx.fault = fault
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        ctx.fault.happen("backward")
        return gradients[0], None


class Fail:
    """Raises `error` in the forward or backward passes of a layer whose numbers are in `calls`."""

    def __init__(self, layer: nn.Module, error: BaseException, where: str, calls: tuple[int, ...]) -> None:
        self.error, self.where, self.calls, self.number = error, where, calls, 0
        layer.register_forward_hook(self.hook)

    def hook(self, module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
        if not torch.is_grad_enabled():
            return output
        self.happen("forward")
        return FailsAt.apply(output, self)  # type: ignore[no-any-return, no-untyped-call]

    def happen(self, where: str) -> None:
        if where == self.where:
            self.number += 1
            if self.number in self.calls:
                raise self.error


@pytest.mark.parametrize("error", [CUDA, CPU, MemoryError()], ids=["cuda", "cpu", "python"])
@pytest.mark.parametrize("where", ["forward", "backward"])
def test_out_of_memory_halves_the_micro_batch_and_makes_the_same_update(
    where: str, error: BaseException, model: PreTrainedModel, rollouts: Rollouts, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second of three passes fails, when the gradient of the first is there already."""
    usual, disturbed = deepcopy(model), deepcopy(model)
    expected = Learner(usual, CONFIG, temperature=0.7).step(rollouts, ADVANTAGES)
    learner = Learner(disturbed, CONFIG, temperature=0.7)
    fault = Fail(disturbed.model.layers[1].mlp, error, where, calls=(2,))
    got = learner.step(rollouts, ADVANTAGES)
    assert largest_difference(weights(disturbed), weights(usual)) < 1e-9
    assert got == pytest.approx(expected, abs=1e-9)
    assert fault.number == 2 + 6, "passes of four rollouts until it fails, then six of two"
    assert "going on with micro-batches of at most 2 rollouts" in capsys.readouterr().err

    fault.number = 2
    learner.step(rollouts, ADVANTAGES)
    assert fault.number == 2 + 6, "it stays that way"


def test_out_of_memory_again_is_the_end(model: PreTrainedModel, rollouts: Rollouts) -> None:
    before = weights(model)
    learner = Learner(model, CONFIG, temperature=0.7)
    Fail(model.model.layers[1].mlp, CUDA, "backward", calls=(1, 4))
    with pytest.raises(Fault, match=r"out of memory again, with .* 2 rollouts \(CUDA out of memory.*--learner.micro"):
        learner.step(rollouts, ADVANTAGES)
    assert largest_difference(weights(model), before) == 0


def test_out_of_memory_with_one_rollout_at_a_time(model: PreTrainedModel, rollouts: Rollouts) -> None:
    learner = Learner(model, replace(CONFIG, micro_batch=1), temperature=0.7)
    Fail(model.model.layers[1].mlp, CUDA, "forward", calls=(1,))
    with pytest.raises(Fault, match=r"out of memory with micro-batches of at most 1 rollouts"):
        learner.step(rollouts, ADVANTAGES)


def test_other_errors_pass_through(model: PreTrainedModel, rollouts: Rollouts) -> None:
    learner = Learner(model, CONFIG, temperature=0.7)
    Fail(model.model.layers[1].mlp, RuntimeError("a bug"), "forward", calls=(1,))
    with pytest.raises(RuntimeError, match="a bug"):
        learner.step(rollouts, ADVANTAGES)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_an_update_that_is_not_finite_is_skipped_and_counted(
    bad: float, model: PreTrainedModel, rollouts: Rollouts
) -> None:
    """The second prompt's advantages are broken, so of three updates the second is skipped: as if it were not there."""
    config = replace(CONFIG, mini_batch=1)
    usual, disturbed = deepcopy(model), deepcopy(model)
    one = Learner(usual, config, temperature=0.7)
    without = replace(
        rollouts, prompts=rollouts.prompts[::2], completions=rollouts.completions[::2], rewards=rollouts.rewards[::2]
    )
    expected = one.step(without, ADVANTAGES[::2])
    broken = ADVANTAGES.clone()
    broken[1, 2] = bad
    learner = Learner(disturbed, config, temperature=0.7)
    got = learner.step(rollouts, broken)
    assert largest_difference(weights(disturbed), weights(usual)) < 1e-12
    assert expected["skipped_updates"] == 0
    assert got == pytest.approx(expected | {"skipped_updates": 1}, abs=1e-12)
    assert learner.skipped_in_a_row == 0, "the third update was made"


@pytest.mark.parametrize("bad", [float("nan"), -float("inf")])
def test_log_probabilities_of_the_engine_that_are_not_finite(
    bad: float, model: PreTrainedModel, rollouts: Rollouts
) -> None:
    """A token that the engine says it could not sample: its ratio is infinite, though the cap keeps the loss finite."""
    first = rollouts.completions[0][0]
    rollouts.completions[0][0] = replace(first, logprobs=[bad, *first.logprobs[1:]])
    before = weights(model)
    metrics = Learner(model, CONFIG, temperature=0.7).step(rollouts, ADVANTAGES)
    assert largest_difference(weights(model), before) == 0
    assert metrics == {"skipped_updates": 1}


def test_a_parameter_that_is_not_a_number_exhausts_the_learner(model: PreTrainedModel, rollouts: Rollouts) -> None:
    learner = Learner(model, CONFIG, temperature=0.7)
    with torch.no_grad():
        model.model.layers[0].mlp.up_proj.weight[3, 5] = float("nan")
    before = weights(model)
    for steps in (1, 2, 3):
        assert not learner.exhausted
        assert learner.step(rollouts, ADVANTAGES) == {"skipped_updates": 1}
        assert learner.skipped_in_a_row == steps
    assert learner.exhausted
    for p, q in zip(model.parameters(), before, strict=True):
        assert torch.equal(p.nan_to_num(), q.nan_to_num())


def test_the_count_of_skipped_updates_is_part_of_a_checkpoint(model: PreTrainedModel, rollouts: Rollouts) -> None:
    learner = Learner(model, CONFIG, temperature=0.7)
    learner.step(rollouts, ADVANTAGES * float("nan"))
    resumed = Learner(model, CONFIG, temperature=0.7)
    resumed.load_state_dict(learner.state_dict())
    assert resumed.skipped_in_a_row == 1
    resumed.step(rollouts, ADVANTAGES)
    assert resumed.skipped_in_a_row == 0


def test_a_run_of_skipped_updates_stops_with_a_checkpoint(policy_folder: Path, tmp_path: Path) -> None:
    """What is left is the run's log of them, and a checkpoint after the last."""
    config = TrainConfig(
        env_args=("size=5", "slack=4", "num_problems=50"),
        model=str(policy_folder),
        preset="laptop",
        steps=9,
        prompts=2,
        answers_per_prompt=6,
        prompt_tokens=256,
        output=str(tmp_path),
        name="run",
        final_evaluation=False,
        sampling=SamplingConfig(max_tokens=16),
        # The first update throws the weights so far that every later loss overflows.
        learner=LearnerConfig(lr=1e30, mini_batch=2, max_skipped=2),
    )
    with pytest.raises(Fault, match=r"2 updates in a row had a loss or a gradient that is not finite"):
        train(config)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line["learner/skipped_updates"] for line in lines] == [0, 1, 1]
    found = latest_checkpoint(tmp_path / "run" / "checkpoints")
    assert found is not None
    assert found.step == 3
