"""The training command from end to end: what a run leaves, resuming, interruption, other people's environments."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from agents.config import EvaluationConfig, LearnerConfig, SamplingConfig, TrainConfig
from agents.policy import load_policy
from agents.runs.checkpoint import latest_checkpoint, load_checkpoint
from agents.train_vpo import main, train
from vpo_envs.maze import MazeTask
from vpo_envs.registration import register_task

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def config(policy_folder: Path, tmp_path: Path) -> TrainConfig:
    """Five quick steps of an untrained policy."""
    return TrainConfig(
        env_args=("size=5", "slack=4", "num_problems=50"),
        model=str(policy_folder),
        preset="laptop",
        steps=5,
        prompts=3,
        answers_per_prompt=6,
        prompt_tokens=256,
        output=str(tmp_path),
        name="run",
        checkpoint_every=2,
        final_evaluation=False,
        sampling=SamplingConfig(max_tokens=24),
        learner=LearnerConfig(lr=1e-3, mini_batch=2, micro_batch=4),
    )


def metrics(folder: Path) -> list[dict[str, float]]:
    """The lines of `metrics.jsonl` without timings, which no two runs share."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if not name.startswith("time/")} for line in lines]


def command(config: TrainConfig, *more: str) -> list[str]:
    """The command line that trains the tiny policy like `config`, for a process of its own."""
    return [
        sys.executable,
        str(ROOT / "agents" / "train_vpo.py"),
        *("--preset", "laptop", "--model", config.model, "--output", config.output, "--name", "run"),
        *("--env-args", *config.env_args, "--prompts", "3", "--answers-per-prompt", "6", "--no-final-evaluation"),
        *("--sampling.max-tokens", "24", "--learner.mini-batch", "2", "--threads", "1", *more),
    ]


def test_a_run_leaves_everything_a_user_needs(config: TrainConfig) -> None:
    evaluation = EvaluationConfig(problems=3, answers=6, ks=(1, 3), weights=16)
    folder = train(replace(config, final_evaluation=True, evaluation=evaluation))
    assert [line["step"] for line in metrics(folder)] == [0, 1, 2, 3, 4]
    assert json.loads((folder / "config.json").read_text())["num_answers"] == 3
    assert sorted(p.name for p in (folder / "checkpoints").iterdir()) == ["step-000004", "step-000005"]
    assert any((folder / "tensorboard").iterdir())
    assert (folder / "training.png").stat().st_size > 10_000
    table = json.loads((folder / "evaluation" / "evaluation.json").read_text())
    assert "before training" in json.dumps(table)
    assert (folder / "evaluation" / "best_at_k.png").exists()
    assert (folder / "evaluation" / "answers.png").exists()
    # A checkpoint can be evaluated and loaded like any other model.
    last = load_policy(str(folder / "checkpoints" / "step-000005"), torch.device("cpu"), torch.float32)
    final = load_policy(str(folder / "final"), torch.device("cpu"), torch.float32)
    for a, b in zip(last.model.parameters(), final.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_training_changes_the_policy_and_the_final_model_is_an_ordinary_one(config: TrainConfig) -> None:
    folder = train(config)
    model = AutoModelForCausalLM.from_pretrained(folder / "final")
    tokenizer = AutoTokenizer.from_pretrained(folder / "final")
    start = AutoModelForCausalLM.from_pretrained(config.model)
    ids = torch.tensor([tokenizer("RIGHT (0,1) DOWN (1,1)")["input_ids"]])
    with torch.no_grad():
        assert not torch.allclose(model(ids).logits, start(ids).logits, atol=1e-3)
        # The same log-probabilities as the weights that training ended with.
        checkpoint = latest_checkpoint(folder / "checkpoints")
        assert checkpoint is not None
        load_checkpoint(checkpoint, start)
        assert torch.equal(model(ids).logits.log_softmax(-1), start(ids).logits.log_softmax(-1))


@pytest.mark.parametrize("method", ["vpo", "multi_rlvr", "grpo"])
def test_a_resumed_run_repeats_the_uninterrupted_one(config: TrainConfig, method: str) -> None:
    whole = train(replace(config, method=method, name="whole"))
    part = train(replace(config, method=method, name="part", steps=2))
    train(replace(config, method=method, name=None, resume=str(part)))
    assert len(metrics(whole)) == 5
    assert metrics(part) == metrics(whole)
    assert any(line["learner/grad_norm"] > 0 for line in metrics(whole))


def test_methods_generate_the_same_number_of_answers(config: TrainConfig) -> None:
    seen = {}
    for method in ("vpo", "grpo"):
        folder = train(replace(config, method=method, name=method, steps=1))
        saved = json.loads((folder / "config.json").read_text())
        seen[method] = (saved["num_answers"], saved["answers_per_prompt"])
    assert seen == {"vpo": (3, 6), "grpo": (1, 6)}


def test_resuming_with_other_options_names_them(config: TrainConfig) -> None:
    folder = train(replace(config, steps=2))
    other = replace(config, resume=str(folder), prompts=4, learner=replace(config.learner, lr=1e-2))
    with pytest.raises(ValueError, match=r"prompts: 3 -> 4; learner\.lr: 0\.001 -> 0\.01"):
        train(other)
    with pytest.raises(ValueError, match="cannot be resumed with another configuration: method: 'vpo' -> 'grpo'"):
        train(replace(config, resume=str(folder), method="grpo"))


def test_a_line_that_a_crash_cut_short_is_dropped_on_resume(config: TrainConfig) -> None:
    whole = train(replace(config, name="whole"))
    part = train(replace(config, steps=4))
    lines = (part / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == 4
    # As if step 4 had been logged, and step 5 half, before the process died without another checkpoint.
    (part / "metrics.jsonl").write_text(
        "\n".join([*lines, lines[-1].replace('"step": 3', '"step": 4'), '{"step": 5, "sc'])
    )
    train(replace(config, resume=str(part)))
    assert metrics(part) == metrics(whole)


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_and_kill_leave_a_run_that_can_be_resumed(config: TrainConfig, blow: signal.Signals) -> None:
    whole = subprocess.run(
        [w if w != "run" else "whole" for w in command(config, "--steps", "8", "--checkpoint-every", "1")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert whole.returncode == 0, whole.stderr
    process = subprocess.Popen(
        command(config, "--steps", "8", "--checkpoint-every", "1"), stderr=subprocess.PIPE, text=True
    )
    folder = Path(config.output) / "run"
    deadline = time.monotonic() + 120
    while not list((folder / "checkpoints").glob("step-*")) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.005)
    os.kill(process.pid, blow)
    _, errors = process.communicate(timeout=120)
    done = len(list((folder / "metrics.jsonl").read_text().splitlines()))
    if blow is signal.SIGINT and done < 8:
        assert process.returncode == 130, errors
        assert f"--resume {folder}" in errors
    resumed = subprocess.run(
        [*command(config)[:2], "--resume", str(folder)], capture_output=True, text=True, check=False
    )
    assert resumed.returncode == 0, resumed.stderr
    assert metrics(folder) == metrics(Path(config.output) / "whole")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--env", "vpo/Maize-v0"], "did you mean vpo/Maze-v0"),
        (["--env-args", "siez=5"], "siez"),
        (["--env-args", "size=3"], "size must be a whole number from 5"),
        (["--model", "nowhere/at/all"], "model folder nowhere/at/all does not exist"),
        (["--num-answers", "0"], "--num-answers must be at least 1"),
        (["--method", "vop"], "did you mean 'vpo'"),
        (["--prompt-tokens", "10"], "--prompt-tokens allows 10"),
        (["--env-args", "size=7", "slack=6"], "the built-in policy of vpo/Maze-v0 was made for"),
        (["--env-args", "data=missing.jsonl"], "data file missing.jsonl does not exist"),
        (["--env-args", "split=test"], "the split is chosen by the command"),
        (["--method-args", "alpha=0"], "alpha must be a positive, finite number"),
        (["--num-answers", "4"], "30 answers cannot be sampled as responses of 4 answers each"),
        (["--device", "meta"], "--device meta"),
        (["--env", "CartPole-v1", "--env-args"], "text"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing_behind(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(sys, "argv", ["train_vpo.py", "--preset", "laptop", "--output", str(tmp_path), *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert message in errors[0]
    assert list(tmp_path.iterdir()) == []


class Echo(gym.Env[str, str]):
    """Say as many of three words as you can, in few words: an environment that shares no code with ours."""

    observation_space = gym.spaces.Text(200)
    action_space = gym.spaces.Text(200)
    reward_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.words = [str(w) for w in self.np_random.choice(["UP", "DOWN", "LEFT", "RIGHT"], 3)]
        return "Say: " + " ".join(self.words), {}

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        said = sum(word in action for word in self.words) / 3
        return "", np.array([said, -min(len(action), 100) / 100], np.float32), True, False, {}


@pytest.fixture
def echo() -> Iterator[str]:
    gym.register("elsewhere/Echo-v0", entry_point=Echo, disable_env_checker=True)
    yield "elsewhere/Echo-v0"
    del gym.registry["elsewhere/Echo-v0"]


class ScalarEcho(gym.Env[str, str]):
    """The same with a scalar reward and no declared bounds, as a plain Gymnasium environment has it."""

    observation_space = gym.spaces.Text(200)
    action_space = gym.spaces.Text(200)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return f"Say: {self.np_random.integers(10)}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return "", -len(action) / 10, True, False, {}


def test_a_scalar_reward_without_bounds_trains(config: TrainConfig) -> None:
    gym.register("elsewhere/Unbounded-v0", entry_point=ScalarEcho, disable_env_checker=True)
    try:
        folder = train(replace(config, env="elsewhere/Unbounded-v0", env_args=(), steps=2))
    finally:
        del gym.registry["elsewhere/Unbounded-v0"]
    assert len(metrics(folder)) == 2


def test_a_registered_task_with_defaults_trains(config: TrainConfig) -> None:
    register_task("elsewhere/SmallMaze-v0", MazeTask, size=5, slack=4)
    try:
        folder = train(replace(config, env="elsewhere/SmallMaze-v0", env_args=("num_problems=20",), steps=2))
    finally:
        del gym.registry["elsewhere/SmallMaze-v0"]
    assert len(metrics(folder)) == 2


@pytest.mark.parametrize("method", ["vpo", "grpo"])
def test_an_environment_that_is_not_ours_trains(config: TrainConfig, echo: str, method: str) -> None:
    folder = train(replace(config, env=echo, env_args=(), method=method, steps=3))
    lines = metrics(folder)
    assert len(lines) == 3
    assert all(np.isfinite(list(line.values())).all() for line in lines)
    assert {"reward/objective_1", "reward/objective_2"} <= lines[0].keys()
    assert (folder / "final" / "config.json").is_file()
