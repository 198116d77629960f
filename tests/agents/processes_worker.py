"""What each of two processes does in test_agents_processes.py: learner steps, compared with those of a single process.

The main process writes {"ddp" or "fsdp": {case: what was seen}, "told": ...} as JSON to the path in the first argument.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from agents_helpers import family_model, sampled_rollouts
from torch import Tensor
from transformers import PreTrainedModel

from agents.config import LearnerConfig, LoraConfig
from agents.faults import Fault
from agents.generation import EngineError
from agents.learner import Learner
from agents.lora import add_adapter
from agents.processes import ALONE, Processes, open_processes

CONFIG = LearnerConfig(lr=1e-3, mini_batch=4, micro_batch=2, kl_coef=0.05, grad_clip=0.1)
"""Several passes an update, gradients that are clipped, and a KL term that counts."""

LENGTHS = (5, 9, 2)
"""Three prompts on two processes: shares of two and one, so that they differ in passes too."""


@dataclass(frozen=True)
class Case:
    """A learner and the model that it trains, with three steps to take."""

    family: str = "llama"
    double: bool = True
    rank: int = 0
    """Of a LoRA adapter; 0 for none."""
    config: LearnerConfig = field(default_factory=lambda: CONFIG)
    spoiled: bool = False
    """The advantages of the last prompt, which is the main process's, are NaN in the second step."""
    short_of_memory: bool = False
    """The second process runs out of memory once."""

    @property
    def small(self) -> bool:
        return self.config.param_dtype == "bfloat16"

    def model(self) -> PreTrainedModel:
        model = family_model(self.family, 60)
        if self.double:
            model = model.double()
        if self.small:
            model = model.bfloat16()
        if self.rank:
            add_adapter(model, LoraConfig(rank=self.rank, targets=("all-linear",)), seed=0, base="llama")
        return model


def with_config(**changes: Any) -> Case:
    return Case(config=replace(CONFIG, **changes))


CASES = {
    "gpt2": Case("gpt2"),
    "llama": Case("llama"),
    "qwen3": Case("qwen3"),
    "float32": Case(double=False, config=replace(CONFIG, lr=1e-4)),
    "lora": Case(rank=4),
    # The second mini-batch leaves one process without a prompt.
    "several updates": with_config(mini_batch=2, epochs=2, micro_batch=100, micro_batch_tokens=40),
    "other options": with_config(kl_coef=0.0, tis_cap=None, gradient_checkpointing=True, logprob_chunk=3),
    "not a number": Case(spoiled=True),
    "out of memory": Case(short_of_memory=True),
    "bfloat16": Case(double=False, config=replace(CONFIG, param_dtype="bfloat16")),
    "bfloat16 lora": Case(double=False, rank=4, config=replace(CONFIG, param_dtype="bfloat16")),
}


def applies(case: Case, kind: str) -> bool:
    """With FSDP a lack of memory ends the run: the other process waits in the middle of a pass."""
    return not (case.short_of_memory and kind == "fsdp")


def three_steps(case: Case, processes: Processes, between: Callable[[Learner], Learner]) -> dict[str, Any]:
    """The weights and metrics of three steps; `between` gives the learner of the third."""
    model = case.model()
    rollouts = sampled_rollouts(case.model(), LENGTHS, group_size=4)
    learner = Learner(model, case.config, 0.7, torch.bfloat16 if case.small else torch.float32, processes)
    if case.short_of_memory and processes.rank == 1:
        run_out_of_memory_once(model)
    metrics = []
    for step in range(3):
        advantages = torch.randn(3, 4, generator=torch.Generator().manual_seed(step))
        if case.spoiled and step == 1:
            advantages[-1] = torch.nan
        if step == 2:
            learner = between(learner)
        metrics.append(learner.step(rollouts, advantages))
    return {"weights": [p.detach().clone() for p in learner.whole.parameters()], "metrics": metrics}


def run_out_of_memory_once(model: PreTrainedModel) -> None:
    def refuse(*_: object) -> None:
        hook.remove()
        raise torch.OutOfMemoryError("provoked")

    hook = model.base_model.register_forward_pre_hook(refuse)


def resumed(learner: Learner) -> Learner:
    """A new learner with the weights and the state of this one, as a checkpoint hands them over."""
    state = learner.processes.of_main(learner.state_dict())
    model = deepcopy(learner.whole)
    fresh = Learner(model, learner.config, learner.temperature, learner.dtype, learner.processes)
    if learner.reference is not None:
        copy_reference(learner, fresh)
    fresh.load_state_dict(state)
    return fresh


@torch.no_grad()
def copy_reference(old: Learner, new: Learner) -> None:
    """The first policy is the reference of both, as it is when a run is resumed."""
    assert old.reference is not None
    assert new.reference is not None
    for source, target in zip(old.reference.parameters(), new.reference.parameters(), strict=True):
        target.copy_(source)


def largest(a: list[Tensor], b: list[Tensor]) -> float:
    return max(float((x - y).abs().max()) for x, y in zip(a, b, strict=True))


def distance(a: list[Tensor], b: list[Tensor]) -> float:
    return math.sqrt(sum(float((x.double() - y.double()).square().sum()) for x, y in zip(a, b, strict=True)))


def compare(case: Case, processes: Processes) -> dict[str, Any]:
    together = three_steps(case, processes, resumed)
    others = processes.gather([w.sum().item() for w in together["weights"]])
    alone = three_steps(case, ALONE, lambda learner: learner) if processes.main else together
    start = [p.detach() for p in case.model().parameters()]
    pairs = list(zip(together["metrics"], alone["metrics"], strict=True))
    return {
        "weights": largest(together["weights"], alone["weights"]),
        "metrics": max(abs(a[name] - b[name]) for a, b in pairs for name in b),
        "same names": all(a.keys() == b.keys() for a, b in pairs),
        "skipped": [int(a["skipped_updates"]) for a, _ in pairs],
        "moved": largest(alone["weights"], start),
        "relative": distance(together["weights"], alone["weights"]) / distance(alone["weights"], start),
        "processes agree": all(other == others[0] for other in others),
    }


def told(processes: Processes) -> list[str]:
    """What this process raises when the second one's engine fails, and when the main one's disk is full."""

    def generate() -> None:
        if processes.rank == 1:
            raise EngineError("the engine failed")

    def write() -> None:
        raise Fault("the disk is full")

    errors = []
    for attempt in (partial(processes.agreed, generate, EngineError), partial(processes.on_main, write)):
        try:
            attempt()
        except (EngineError, Fault) as error:
            errors.append(str(error))
    return errors


def main() -> None:
    torch.set_num_threads(1)
    processes = open_processes("cpu")
    kinds = {"ddp": processes, "fsdp": replace(processes, sharded=True)}
    seen: dict[str, Any] = {
        kind: {name: compare(case, p) for name, case in CASES.items() if applies(case, kind)}
        for kind, p in kinds.items()
    }
    seen["told"] = processes.gather(told(processes))
    if processes.main:
        Path(sys.argv[1]).write_text(json.dumps(seen))
    processes.close()


if __name__ == "__main__":
    main()
