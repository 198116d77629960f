"""Every estimator runs from the command line, on mazes and on problems that differ in their number of objectives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from agents_runs import lines_of

from agents import train_vpo
from agents.advantages import ESTIMATORS, ONE_ANSWER, PER_ANSWER

SMALL = "--preset laptop --steps 3 --prompts 2 --answers-per-prompt 6 --samples-every 1 --no-final-evaluation"
ENVIRONMENTS = {
    "vpo/Maze-v0": "--sampling.max-tokens 96 --trackers",
    "vpo/Code-v0": "--sampling.max-tokens 60 --env-args problems=rules num_problems=20 --trackers",
}


@pytest.mark.parametrize("env", ENVIRONMENTS)
@pytest.mark.parametrize("method", ESTIMATORS)
def test_three_steps(method: str, env: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = f"--env {env} --method {method} --output {tmp_path} --name run {SMALL} {ENVIRONMENTS[env]}"
    monkeypatch.setattr(sys, "argv", ["train_vpo.py", *options.split()])
    monkeypatch.setattr(train_vpo, "plot_training", lambda *_: None)  # takes as long as the three steps
    train_vpo.main()
    steps = lines_of(tmp_path / "run" / "metrics.jsonl")
    assert len(steps) == 3
    assert all(step["learner/skipped_updates"] == 0 for step in steps)
    if method != "goal_conditioned":  # the built-in policies have never seen weights, and may give no answer then
        assert any(step["group/zero_advantage"] < 1 for step in steps)
        assert any(step["learner/grad_norm"] > 0 for step in steps)
    rows = lines_of(tmp_path / "run" / "samples.jsonl")
    assert {len(row["answers"]) for row in rows} == {1 if method in ONE_ANSWER else 3}
    shapes = {len(row["advantage"]) if isinstance(row["advantage"], list) else 0 for row in rows}
    assert shapes == ({4} if method in PER_ANSWER else {0})
