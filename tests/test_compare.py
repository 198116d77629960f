"""A comparison from end to end: what it leaves, going on after a kill, refusing other options, equal budgets."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents.compare
import agents.train_vpo
from agents.compare import command, compare
from agents.config import EvaluationConfig, LearnerConfig, SamplingConfig
from agents.evaluate import EvaluateConfig, evaluate
from agents.learner import Learner
from agents.study.config import CompareConfig
from agents.study.plan import plan
from agents.study.progress import describe

ROOT = Path(__file__).resolve().parents[1]
WORDS = ("warm_start", "grpo", "few=vpo:num_weights=4,learner.lr=2e-4")


def tiny(folder: Path) -> CompareConfig:
    """Two methods, two seeds and two steps on 5x5 mazes with the built-in policy."""
    return CompareConfig(
        env_args=("size=5", "slack=4", "num_problems=40"),
        preset="laptop",
        methods=WORDS,
        seeds=(0, 1),
        candidate="few",
        name="tiny",
        steps=2,
        prompts=2,
        answers_per_prompt=6,
        prompt_tokens=256,
        checkpoint_every=1,
        trackers=(),
        threads=1,
        device="cpu",
        output=str(folder / "runs"),
        results=str(folder / "results"),
        sampling=SamplingConfig(max_tokens=64),
        learner=LearnerConfig(lr=1e-4, mini_batch=2, micro_batch=12),
        evaluation=EvaluationConfig(problems=4, answers=6, ks=(1, 3), weights=8),
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[CompareConfig, Path]:
    """An undisturbed comparison and its results."""
    config = tiny(tmp_path_factory.mktemp("whole"))
    return config, compare(config)


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a tiny comparison's time is drawing."""
    monkeypatch.setattr(agents.compare, "plot_study", lambda *_: [])
    monkeypatch.setattr(agents.train_vpo, "plot_training", lambda *_: None)


def numbers(results: Path) -> Any:
    """`results.json` without what no two comparisons share."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if "seconds" not in k and k != "configuration"}
        return [strip(v) for v in value] if isinstance(value, list) else value

    return strip(json.loads((results / "results.json").read_text()))


def test_what_a_comparison_leaves(whole: tuple[CompareConfig, Path]) -> None:
    config, results = whole
    assert results == Path(config.results) / "Maze-v0" / "tiny"
    assert {p.name for p in results.iterdir()} == {
        *("table.md", "results.json", "results.csv", "per_prompt.jsonl"),
        *("best_at_k.png", "diversity.png", "training.png"),
    }
    runs = Path(config.output) / "Maze-v0" / "tiny"
    assert {p.name for p in runs.iterdir()} == {
        *("warm_start", "grpo-seed0", "few-seed0", "grpo-seed1", "few-seed1"),
    }
    data = json.loads((results / "results.json").read_text())
    assert [m["label"] for m in data["methods"]] == ["warm_start", "grpo", "few"]
    assert data["methods_in_full"]["few"] == {
        "method": "vpo",
        "method_args": ["num_weights=4"],
        "options": ["learner.lr=2e-4"],
    }
    assert data["configuration"]["learner"]["lr"] == 1e-4
    assert json.loads((runs / "few-seed1" / "config.json").read_text())["learner"]["lr"] == 2e-4
    few = data["methods"][2]
    assert [run["seed"] for run in few["runs"]] == [0, 1]
    assert few["mean"]["best@3"]["value"] == pytest.approx(
        np.mean([run["metrics"]["best@3"]["value"] for run in few["runs"]])
    )
    assert all(run["training_seconds"] > 0 for run in few["runs"])
    assert 0 < few["mean"]["best@3"]["value"] <= data["ceiling"]["best@3"]["value"]
    rows = list(csv.DictReader((results / "results.csv").open()))
    assert {row["seed"] for row in rows} == {"0", "1", "all"}
    (row,) = [r for r in rows if (r["method"], r["seed"], r["measure"]) == ("few", "1", "best@6")]
    assert float(row["value"]) == few["runs"][1]["metrics"]["best@6"]["value"]
    lines = [json.loads(line) for line in (results / "per_prompt.jsonl").read_text().splitlines()]
    assert len(lines) == 6
    assert np.mean(lines[-1]["values"]["best@6"]) == pytest.approx(float(row["value"]), abs=1e-4)
    table = (results / "table.md").read_text()
    for words in ("| few (m=3) |", "## Ratio to grpo", "## few minus each other method", "ceiling (exact front)"):
        assert words in table


def test_every_policy_is_evaluated_as_by_the_evaluation_command(
    whole: tuple[CompareConfig, Path], tmp_path: Path
) -> None:
    config, results = whole
    data = json.loads((results / "results.json").read_text())
    runs = Path(config.output) / "Maze-v0" / "tiny"
    comparison = evaluate(
        EvaluateConfig(
            ("builtin", str(runs / "grpo-seed1"), str(runs / "few-seed1")),
            labels=("warm_start", "grpo", "few"),
            num_answers=(1, 1, 3),
            env_args=config.env_args,
            evaluation=config.evaluation,
            max_tokens=config.sampling.max_tokens,
            device="cpu",
            threads=1,
            output=str(tmp_path),
        )
    )
    answers = {result.rewards.shape[1] * result.rewards.shape[2] for result in comparison.results}
    assert answers == {6}
    for method, metrics, k in zip(data["methods"], comparison.metrics, comparison.equal_token_ks, strict=True):
        (run,) = [run for run in method["runs"] if run["seed"] == 1]
        assert run["equal_tokens_k"] == k
        assert run["metrics"] == {n: {"value": e.value, "low": e.low, "high": e.high} for n, e in metrics.items()}


@pytest.mark.usefixtures("no_pictures")
def test_what_is_done_is_not_done_again(whole: tuple[CompareConfig, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    config, results = whole
    before = numbers(results)
    for name in ("train", "evaluate_policy", "open_policy"):
        monkeypatch.setattr(agents.compare, name, _never)
    compare(config)
    assert numbers(results) == before
    assert describe(plan(config)).splitlines()[-1] == "left: 0 s"


def _never(*_: object, **__: object) -> None:
    raise AssertionError("it is done already")


@pytest.mark.usefixtures("no_pictures")
def test_after_a_kill_within_a_run_the_same_numbers_come_out(whole: tuple[CompareConfig, Path], tmp_path: Path) -> None:
    config = tiny(tmp_path)
    arguments = [
        *("--preset", "laptop", "--env-args", *config.env_args, "--methods", *WORDS, "--seeds", "0", "1"),
        *("--candidate", "few", "--name", "tiny", "--steps", "2", "--prompts", "2", "--answers-per-prompt", "6"),
        *("--checkpoint-every", "1", "--trackers", "--threads", "1", "--device", "cpu", "--output", config.output),
        *("--results", config.results, "--sampling.max-tokens", "64", "--learner.lr", "1e-4"),
        *("--learner.mini-batch", "2", "--learner.micro-batch", "12", "--evaluation.problems", "4"),
        *("--evaluation.first", "0"),
        *("--evaluation.answers", "6", "--evaluation.ks", "1", "3", "--evaluation.weights", "8"),
    ]
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "agents" / "compare.py"), *arguments],
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PATH": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    run = Path(config.output) / "Maze-v0" / "tiny" / "few-seed0"
    while not (run / "checkpoints" / "step-000001").exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors
    assert "[1/5] warm_start: best@6" in errors
    assert "%|" not in errors  # no progress bars where nobody watches them
    assert not (run / "trained.json").exists()
    lines = describe(plan(config)).splitlines()
    assert [line.split(None, 1)[1].split("m=")[0].strip() for line in lines[:2]] == ["warm_start", "grpo, seed 0"]
    assert all("done" in line for line in lines[:2])
    assert "of 2" in lines[2]
    assert numbers(compare(config)) == numbers(whole[1])


@pytest.mark.usefixtures("no_pictures")
def test_signals_anywhere_lose_nothing(
    whole: tuple[CompareConfig, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = tiny(tmp_path)
    results = Path(config.results) / "Maze-v0" / "tiny"

    def interrupt(owner: Any, name: str, calls: int) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, _interrupted(getattr(owner, name), calls))
            with pytest.raises(KeyboardInterrupt):
                compare(config)

    interrupt(agents.compare, "evaluate_policy", calls=2)  # grpo's first run is trained and not evaluated
    assert not results.exists()
    interrupt(agents.compare, "train", calls=2)  # seed 0 of all methods is done
    smaller, both = numbers(results), numbers(whole[1])
    assert smaller["seeds"] == [0]
    for few, all_ in zip(smaller["methods"], both["methods"], strict=True):
        assert [run["metrics"] for run in few["runs"]] == [all_["runs"][0]["metrics"]]
    interrupt(Learner, "step", calls=2)  # within a run, as by a second Ctrl-C
    learn = Learner.step
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "step", lambda *args: (os.kill(os.getpid(), signal.SIGTERM), learn(*args))[1])
        with pytest.raises(SystemExit) as ended:
            compare(config)
    assert ended.value.code == 0
    assert "repeat the command of the comparison" in capsys.readouterr().err
    assert numbers(compare(config)) == both


def _interrupted(function: Callable[..., Any], calls: int) -> Callable[..., Any]:
    """The function, but Ctrl-C comes at its n-th call."""
    made = 0

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal made
        made += 1
        if made == calls:
            raise KeyboardInterrupt
        return function(*args, **kwargs)

    return call


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learner": LearnerConfig(lr=3e-4, mini_batch=2)}, r"grpo, seed 0: learner.lr: 0.0001 -> 0.0003 \| "),
        ({"steps": 3}, "grpo, seed 0: steps: 2 -> 3"),
        ({"methods": ("grpo", "few=vpo:learner.lr=2e-4")}, r"few, seed 0: method_args: \('num_weights=4',\) -> \(\)"),
        (
            {"evaluation": EvaluationConfig(problems=3, answers=6, ks=(1, 3), weights=8)},
            r"evaluation of warm_start: problems: 4 -> 3 \(--reevaluate does it again\)",
        ),
    ],
)
def test_other_options_for_runs_that_exist_are_refused(
    whole: tuple[CompareConfig, Path], changes: dict[str, Any], message: str
) -> None:
    candidate = {"candidate": "few"}
    for run in (compare, lambda c: command(replace(c, dry_run=True))):
        with pytest.raises(ValueError, match=message):
            run(replace(whole[0], **candidate | changes))


@pytest.mark.usefixtures("no_pictures")
def test_another_evaluation_of_the_same_runs(whole: tuple[CompareConfig, Path], tmp_path: Path) -> None:
    runs = shutil.copytree(whole[0].output, tmp_path / "runs")
    fewer = replace(whole[0].evaluation, problems=2)
    config = replace(whole[0], output=str(runs), results=str(tmp_path), evaluation=fewer, reevaluate=True, seeds=(0,))
    data = numbers(compare(config))
    assert data["problems"] == [0, 1]
    lines = [json.loads(line) for line in (whole[1] / "per_prompt.jsonl").read_text().splitlines()]
    kept = np.mean(lines[2]["values"]["best@6"][:2])  # grpo, seed 0: the same answers to the first problems
    assert data["methods"][1]["runs"][0]["metrics"]["best@6"]["value"] == pytest.approx(kept, abs=1e-4)


def test_a_new_method_or_seed_joins_what_is_there(whole: tuple[CompareConfig, Path]) -> None:
    config = replace(whole[0], methods=(*WORDS, "multi_rlvr"), seeds=(0, 1, 2))
    lines = describe(plan(config)).splitlines()
    assert sum("to train" in line for line in lines) == 5
    assert "left: " in lines[-1]
    assert "unknown" not in lines[-1]  # estimated from the runs that are there
