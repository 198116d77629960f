"""`--dry-run` says what a run would do, and does nothing."""

from __future__ import annotations

import json
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.config import EngineConfig, LoraConfig, TrainConfig
from agents.dry_run import dry_run
from agents.presets import PAPER, preset_defaults
from agents.train_vpo import main, train


def refuse_network(*arguments: Any, **options: Any) -> None:
    raise AssertionError("a dry run must not use the network")


@pytest.mark.parametrize("preset", ["laptop", "paper"])
def test_the_command_prints_a_report_and_leaves_nothing(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket.socket, "connect", refuse_network)
    monkeypatch.setattr(sys, "argv", ["train_vpo.py", "--preset", preset, "--seed", "7", "--dry-run"])
    main()
    printed = capsys.readouterr().out
    resolved = json.loads(printed[: printed.index("\n}") + 2])
    assert (resolved["preset"], resolved["seed"], resolved["num_answers"]) == (preset, 7, 3)
    assert "most at one time" in printed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("env", PAPER)
def test_every_preset_of_the_paper_can_be_estimated(env: str) -> None:
    report = dry_run(preset_defaults("paper", env))
    assert f"model: {PAPER[env].model}, " in report
    assert "computing in bfloat16" in report  # wherever it is asked: the preset is for a CUDA device
    assert f"{PAPER[env].prompts} prompts x 8 responses of 3 answers" in report


def test_steps_are_problems_times_epochs_over_prompts() -> None:
    report = dry_run(preset_defaults("paper", "vpo/Maze-v0"))
    assert "steps: 16 = 2 epochs x 1,000 problems / 128 prompts, rounded up" in report
    assert "at most 1,048,576 generated tokens, 2 update(s)" in report  # 128 x 8 x 1024; 128 / 64


def test_an_engine_and_an_adapter_are_in_the_report() -> None:
    config = replace(
        preset_defaults("paper", "vpo/ToolRL-v0"),
        backend="vllm",
        device="cpu",
        engine=EngineConfig(cache_gib=2.0),
        lora=LoraConfig(rank=16),
        steps=3,
    )
    report = dry_run(config)
    assert "steps: 3 (given)" in report
    assert "generating with vLLM" in report
    assert "2 GiB, 9,362 tokens of 229376 bytes" in report  # 28 layers x 2 x 8 heads x 128 x 4 bytes
    assert "and an adapter of 17,432,576" in report


def test_a_model_that_only_the_hub_knows_is_said_to_be_unknown() -> None:
    assert "memory: unknown, for somebody/model" in dry_run(replace(TrainConfig(steps=2), model="somebody/model"))
    with pytest.raises(ValueError, match=r"model folder \./nowhere does not exist"):
        dry_run(replace(TrainConfig(steps=2), model="./nowhere"))


def test_what_training_refuses_is_refused() -> None:
    with pytest.raises(ValueError, match="--answers-per-prompt 25"):
        dry_run(TrainConfig(answers_per_prompt=25))
    with pytest.raises(ValueError, match="--dry-run trains nothing"):
        train(TrainConfig(dry_run=True))
