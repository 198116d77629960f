"""Several processes: who does what, what launchers may ask for, and that two processes make one process's updates."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from agents_helpers import family_model, sampled_rollouts, two_processes
from processes_worker import CASES, applies

from agents.config import LearnerConfig
from agents.generation import EngineError
from agents.learner import Learner
from agents.processes import ALONE, Processes
from agents.processes.launcher import Launcher, read_launcher, refuse_launcher
from agents.rollout import together


def ranks(count: int) -> list[Processes]:
    return [Processes(rank, count) for rank in range(count)]


def test_shares_of_a_step_are_shares_of_its_mini_batches() -> None:
    """Seven prompts in mini-batches of four, on three processes: 0-3, then 4-6."""
    assert [p.share_of_step(7, 4) for p in ranks(3)] == [[0, 3, 4], [1, 5], [2, 6]]
    assert ALONE.share_of_step(7, 4) == list(range(7))


def test_each_process_needs_a_prompt_in_a_mini_batch() -> None:
    Processes(count=2).check_batch(prompts=3, mini_batch=2)
    for prompts, mini_batch in ((1, 64), (64, 1)):
        with pytest.raises(ValueError, match="2 processes need a prompt each"):
            Processes(count=2).check_batch(prompts, mini_batch)


def test_a_process_alone_talks_to_nobody() -> None:
    assert not torch.distributed.is_initialized()
    assert ALONE.gather("x") == ["x"]
    assert ALONE.first(None) is None
    assert ALONE.on_main(lambda: 3) == 3
    with pytest.raises(EngineError, match="broken"):
        ALONE.agreed(lambda: fail(EngineError("broken")), EngineError)
    ALONE.close()


def fail(error: Exception) -> None:
    raise error


def test_rollouts_of_all_processes_are_put_in_order() -> None:
    rollouts = sampled_rollouts(family_model("gpt2", 60), (5, 9, 2), group_size=2)
    rollouts = replace(
        rollouts,
        answers=[[[text]] for text in "abc"],
        rewards=torch.arange(6.0).reshape(3, 2, 1, 1),
        seconds={"x": 1.0},
    )
    parts = [
        (
            places,
            replace(
                rollouts,
                prompts=[rollouts.prompts[i] for i in places],
                completions=[rollouts.completions[i] for i in places],
                answers=[rollouts.answers[i] for i in places],
                rewards=rollouts.rewards[places],
                answered=rollouts.answered[places],
                seconds={"x": seconds},
            ),
        )
        for places, seconds in (([0, 2], 3.0), ([1], 2.0))
    ]
    joined = together(parts)
    assert joined.prompts == rollouts.prompts
    assert joined.completions == rollouts.completions
    assert joined.answers == rollouts.answers
    assert torch.equal(joined.rewards, rollouts.rewards)
    assert joined.seconds == {"x": 3.0}


def test_what_accelerate_says_is_read() -> None:
    assert read_launcher({}) == Launcher()
    assert read_launcher({"WORLD_SIZE": "2"}) == Launcher(2)
    fsdp = {"WORLD_SIZE": "2", "ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}
    assert read_launcher(fsdp) == Launcher(2, sharded=True)
    assert read_launcher(fsdp | {"FSDP_RESHARD_AFTER_FORWARD": "false"}) == Launcher(2, True, False)
    assert read_launcher(fsdp | {"WORLD_SIZE": "1"}) == Launcher(), "one process has nothing to share"


def test_commands_for_one_process_refuse_a_launcher() -> None:
    refuse_launcher({}, "an evaluation")
    refuse_launcher({"WORLD_SIZE": "1"}, "an evaluation")
    with pytest.raises(ValueError, match="an evaluation is one process; start it without a launcher"):
        refuse_launcher({"WORLD_SIZE": "2"}, "an evaluation")


@pytest.mark.parametrize(
    ("setting", "value", "remedy"),
    [
        ("ACCELERATE_MIXED_PRECISION", "bf16", "--dtype"),
        ("ACCELERATE_USE_DEEPSPEED", "true", "DDP or FSDP"),
        ("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "4", "--learner.micro-batch"),
        ("FSDP_VERSION", "1", "fsdp_version: 2"),
        ("FSDP_OFFLOAD_PARAMS", "true", "--lora.rank"),
        ("FSDP_ACTIVATION_CHECKPOINTING", "true", "--learner.gradient-checkpointing"),
        ("FSDP_STATE_DICT_TYPE", "SHARDED_STATE_DICT", "whole tensors"),
    ],
)
def test_settings_of_accelerate_that_would_be_ignored_are_refused(setting: str, value: str, remedy: str) -> None:
    variables = {"WORLD_SIZE": "2", "ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}
    with pytest.raises(ValueError, match=f"{setting.lower()}={value} of accelerate is not honoured.*{remedy}"):
        read_launcher(variables | {setting: value})


def test_a_sharded_reference_is_not_moved_to_the_cpu() -> None:
    with pytest.raises(ValueError, match=r"--learner\.offload-reference"):
        Learner(
            family_model("gpt2", 60),
            LearnerConfig(offload_reference=True),
            1.0,
            processes=Processes(0, 2, sharded=True),
        )


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What two processes saw (`processes_worker`)."""
    path = tmp_path_factory.mktemp("processes") / "seen.json"
    two_processes("processes_worker.py", str(path))
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("kind", "case"), [(kind, case) for kind in ("ddp", "fsdp") for case in CASES if applies(CASES[case], kind)]
)
def test_two_processes_make_the_updates_of_one(seen: dict[str, dict[str, Any]], kind: str, case: str) -> None:
    """Three steps, the third by a learner that took over the state; double precision shows nothing but rounding."""
    found, expected = seen[kind][case], CASES[case]
    if expected.small:  # the passes are cut in another way, and each rounds its gradient to bfloat16
        assert found["relative"] < 0.1
    else:
        assert max(found["weights"], found["metrics"]) < (1e-10 if expected.double else 1e-5)
    assert found["same names"]
    assert found["skipped"] == [0, int(expected.spoiled), 0]
    assert found["moved"] > expected.config.lr
    assert found["processes agree"]


def test_what_fails_in_one_process_is_raised_in_all(seen: dict[str, Any]) -> None:
    assert seen["told"] == [["the engine failed", "the disk is full"]] * 2
