"""Training and evaluation with vLLM from end to end: a run resumes to the same metrics."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agents.config import EngineConfig, LearnerConfig, SamplingConfig, TrainConfig
from agents.train_vpo import train

pytestmark = [pytest.mark.usefixtures("needs_vllm"), pytest.mark.slow]


def metrics(folder: Path) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if not name.startswith("time/")} for line in lines]


def test_one_step_and_one_more_are_two_steps(tmp_path: Path) -> None:
    config = TrainConfig(
        env_args=("size=5", "slack=4", "num_problems=50"),
        backend="vllm",
        preset="laptop",
        steps=2,
        prompts=3,
        answers_per_prompt=6,
        prompt_tokens=256,
        output=str(tmp_path),
        name="whole",
        final_evaluation=False,
        threads=1,
        engine=EngineConfig(cache_gib=0.25),
        sampling=SamplingConfig(max_tokens=24),
        learner=LearnerConfig(lr=1e-4, mini_batch=2, micro_batch=4),
    )
    whole = metrics(train(config))
    assert len(whole) == 2
    for line in whole:  # the learner's log-probabilities against the engine's, after every update
        assert line["learner/engine_ratio"] == pytest.approx(1, abs=1e-3)
        assert line["learner/engine_ratio_max"] == pytest.approx(1, abs=1e-3)
    part = train(replace(config, name="part", steps=1))
    train(replace(config, name="part", steps=2, resume=str(part)))
    assert metrics(part) == whole
