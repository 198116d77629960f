"""Rollouts to look at: what is written, and how they are printed."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from agents_runs import lines_of, tiny_run

from agents.generation import Completion
from agents.policy import Policy
from agents.rollout import Rollouts
from agents.samples import SamplesConfig, main, sample_rows, show
from agents.train_vpo import train


def test_a_row_holds_what_a_rollout_was_asked_answered_and_earned(policy: Policy) -> None:
    prompt = policy.prompt_ids([{"role": "user", "content": "Plan a route"}])
    texts = [["UP", "DOWN"], ["LEFT", "RIGHT"]]
    completions = [[Completion(policy.tokenizer(t)["input_ids"], [], "stop") for t in group] for group in texts]
    rollouts = Rollouts(
        prompts=[prompt, prompt],
        completions=completions,
        answers=[[["UP", None]] * 2, [["LEFT", "RIGHT"]] * 2],
        rewards=torch.arange(16.0).reshape(2, 2, 2, 2),
        answered=torch.ones(2, 2, 2, dtype=torch.bool),
        objective_mask=None,
    )
    advantages = torch.tensor([[0.5, -0.5], [1.5, -1.5]])
    rows = sample_rows(7, [31, 32], policy, rollouts, advantages, prompts=1)
    assert [row["response"] for row in rows] == ["UP", "DOWN"]
    assert rows[1] == {
        "step": 7,
        "problem": 31,
        "prompt": policy.decode(prompt),
        "response": "DOWN",
        "answers": ["UP", None],
        "rewards": [[4.0, 5.0], [6.0, 7.0]],
        "advantage": -0.5,
    }
    by_answer = advantages[..., None] + torch.tensor([0.0, 1.0, 2.0])
    assert sample_rows(7, [31, 32], policy, rollouts, by_answer, prompts=1)[1]["advantage"] == [-0.5, 0.5, 1.5]
    assert "Plan a route" in rows[0]["prompt"]
    assert len(sample_rows(7, [31, 32], policy, rollouts, advantages, prompts=9)) == 4


def test_a_run_samples_every_n_steps_and_the_same_after_a_resume(policy_folder: Path, tmp_path: Path) -> None:
    config = tiny_run(policy_folder, tmp_path, samples_every=2, samples_prompts=2)
    whole = lines_of(train(replace(config, name="whole")) / "samples.jsonl")
    assert [row["step"] for row in whole] == [0] * 4 + [2] * 4  # two prompts of two rollouts
    part = train(replace(config, name="part", steps=2))
    rows = (part / "samples.jsonl").read_text()
    assert len(rows.splitlines()) == 4
    # As if step 2 had been sampled before the machine died, and no checkpoint of it written.
    (part / "samples.jsonl").write_text(rows + rows.replace('{"step": 0', '{"step": 2') + '{"step": 2, "pro')
    train(replace(config, name=None, resume=str(part)))
    assert lines_of(part / "samples.jsonl") == whole


def test_a_step_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    row = (
        '{{"step": {}, "problem": 5, "prompt": "Which way?", "response": "<a_1>UP</a_1>", "answers": ["UP", null], '
        '"rewards": [[1.0, 0.5], [0.0, 0.0]], "advantage": 0.25}}\n'
    )
    (tmp_path / "samples.jsonl").write_text(row.format(0) + row.format(2) + row.format(2))
    monkeypatch.setattr(sys, "argv", ["samples.py", str(tmp_path)])
    main()
    printed = capsys.readouterr().out
    assert printed.startswith("step 2\n\nproblem 5\nWhich way?\n")
    assert printed.count("Which way?") == 1
    assert printed.count("--- advantage +0.250\n<a_1>UP</a_1>\n  1.00 0.50  UP\n  0.00 0.00  (absent)\n") == 2
    assert show(SamplesConfig(str(tmp_path), step=0)).startswith("step 0")
    (tmp_path / "samples.jsonl").write_text(row.format(4).replace("0.25}", "[0.25, -1, 2]}"))
    assert "--- advantage +0.250 -1.000 +2.000\n<a_1>" in show(SamplesConfig(str(tmp_path)))
    (tmp_path / "samples.jsonl").write_text(row.format(0) + row.format(2) + row.format(3)[:40])  # cut short by a crash
    with pytest.raises(ValueError, match="no samples of step 1; it has 0, 2"):
        show(SamplesConfig(str(tmp_path), step=1))
    with pytest.raises(ValueError, match="holds no samples: train with --samples-every"):
        show(SamplesConfig(str(tmp_path / "elsewhere")))
