"""`python agents/evaluate.py` from end to end, and its mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation_helpers import MAZE, save_tiny_policy

import agents.evaluate
from agents.cli import run_cli
from agents.config import SamplingConfig, TrainConfig
from agents.presets import LAPTOP
from agents.run import save_config
from agents.saved_settings import common_environment, find_candidate

ROOT = Path(__file__).parent.parent
SMALL = ("--problems", "3", "--answers", "6", "--weights", "8", "--threads", "1")


def make_run(folder: Path, method: str, seed: int, **changes: object) -> Path:
    """A run's folder with an untrained final model."""
    folder.mkdir()
    config = TrainConfig(env_args=MAZE, method=method, prompt_tokens=256, sampling=SamplingConfig(max_tokens=24))
    save_config(replace(config, **changes), folder)
    save_tiny_policy(folder / "final", seed)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Path, Path]:
    base = tmp_path_factory.mktemp("runs")
    return make_run(base / "sets", "vpo", 0), make_run(base / "singles", "grpo", 1)


def test_two_runs_end_to_end(runs, tmp_path):
    sets, singles = runs
    command = [sys.executable, "agents/evaluate.py", "--model", f"{sets}/final", str(singles), *SMALL]
    done = subprocess.run([*command, "--output", str(tmp_path / "out")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "sets (m=3)" in done.stdout
    assert "singles (m=1)" in done.stdout
    assert "ceiling (exact front)" in done.stdout
    data = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert (data["env"], data["env_args"]) == ("vpo/Maze-v0", list(MAZE))
    assert [(p["label"], p["num_answers"], p["max_tokens"]) for p in data["policies"]] == [
        ("sets", 3, 24),
        ("singles", 1, 24),
    ]
    lines = [json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text().splitlines()]
    assert [(line["policy"], line["problem"]) for line in lines] == [
        (n, i) for n in ("sets", "singles") for i in range(3)
    ]
    for name in ("best_at_k.png", "answers.png"):
        assert (tmp_path / "out" / name).stat().st_size > 20_000


def call(monkeypatch, capsys, *words: object) -> tuple[int, str]:
    """Exit code and standard error of the command."""
    monkeypatch.setattr(sys, "argv", ["evaluate.py", *map(str, words)])
    with pytest.raises(SystemExit) as stopped:
        agents.evaluate.main()
    code = stopped.value.code
    assert isinstance(code, int)
    return code, capsys.readouterr().err


def empty_folder(name: str):
    def make(runs, tmp_path: Path) -> list[object]:
        (tmp_path / name).mkdir()
        return ["--model", tmp_path / name]

    return make


def without_tokenizer(runs, tmp_path: Path) -> list[object]:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    return ["--model", tmp_path]


def unfinished(runs, tmp_path: Path) -> list[object]:
    save_config(TrainConfig(), tmp_path)
    return ["--model", tmp_path]


def of_run(*words: object):
    return lambda runs, tmp_path: ["--model", runs[0], *words]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda runs, tmp_path: ["--model", "runs/nothing/final"], "model folder runs/nothing/final does not exist"),
        (empty_folder("empty"), "holds no model (config.json is missing)"),
        (without_tokenizer, "holds no tokenizer"),
        (unfinished, "has no final model yet"),
        (of_run("--env", "vpo/Mase-v0"), "no environment 'vpo/Mase-v0' is registered; did you mean vpo/Maze-v0"),
        (of_run("--env-args", "size"), "--env-args takes name=value words, not 'size'"),
        (of_run("--env-args", "size=4"), "size must be a whole number from 5"),
        (of_run("--env-args", "colour=4"), "colour"),
        (of_run("--env-args", "size=9"), "--prompt-tokens allows 100"),
        (of_run("--max-tokens", "383"), "the context of"),
        (of_run("--num-answers", "4"), "6 answers cannot be sampled as responses of 4"),
        (of_run("--num-answers", "1", "3"), "one for each of the 1 models"),
        (of_run("--labels", "a", "b"), "one for each of the 1 models, not 2"),
        (of_run("--problem", "3"), "--problem 3 is not one of the 3 problems"),
        (of_run("--device", "cuda:77"), "--device cuda:77"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(monkeypatch, capsys, runs, tmp_path, arguments, message):
    words = [*arguments(runs, tmp_path), *SMALL, "--output", tmp_path / "out"]
    if "size=9" in words:
        words += ["--prompt-tokens", "100"]
    code, err = call(monkeypatch, capsys, *words)
    assert code == 2
    assert "Traceback" not in err
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert message in line
    assert not (tmp_path / "out").exists()


def test_a_mistake_ends_the_process_with_code_2(tmp_path):
    command = [sys.executable, "agents/evaluate.py", "--model", str(tmp_path / "no")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"error: model folder {tmp_path / 'no'} does not exist"


def test_run_cli_keeps_other_errors_and_ctrl_c(capsys):
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as stopped:
        run_cli(stop)
    assert stopped.value.code == 130
    with pytest.raises(ZeroDivisionError):
        run_cli(lambda: 1 / 0)
    run_cli(lambda: None)
    capsys.readouterr()

    def complain() -> None:
        raise ValueError("one\n  two")

    with pytest.raises(SystemExit):
        run_cli(complain)
    assert capsys.readouterr().err == "error: one two\n"


def test_what_is_saved_beside_a_model(runs, tmp_path):
    sets, singles = runs
    found = find_candidate(str(sets))
    assert (found.source, found.name, found.num_answers) == (f"{sets}/final", "sets", 3)
    assert find_candidate(str(singles / "final")).num_answers == 1
    checkpoint = singles / "checkpoints" / "step-000010"
    checkpoint.mkdir(parents=True)
    assert find_candidate(str(checkpoint)).name == "singles/step-000010"
    (tmp_path / "recipe.json").write_text('{"env": "vpo/Maze-v0", "env_args": ["size=6"]}')
    warm = find_candidate(str(tmp_path))
    assert (warm.env, warm.env_args, warm.num_answers) == ("vpo/Maze-v0", ("size=6",), None)
    assert find_candidate("builtin").env is None
    assert find_candidate("someone/model").name == "model"


def test_the_environment_is_what_the_models_share(runs, tmp_path):
    sets, singles = map(find_candidate, map(str, runs))
    assert common_environment([sets, singles], None, None) == ("vpo/Maze-v0", MAZE)
    assert common_environment([sets], None, ()) == ("vpo/Maze-v0", ())
    assert common_environment([sets], "vpo/Other-v0", None) == ("vpo/Other-v0", ())
    builtin = find_candidate("builtin")
    assert common_environment([builtin, sets], None, None) == ("vpo/Maze-v0", MAZE)
    env, env_args = common_environment([builtin], None, None)
    assert env == "vpo/Maze-v0"
    assert "size=5" in env_args
    other = replace(sets, env="vpo/Other-v0")
    with pytest.raises(ValueError, match=r"choose one with --env: vpo/Maze-v0, vpo/Other-v0"):
        common_environment([sets, other], None, None)
    larger = replace(sets, env_args=("size=9",))
    with pytest.raises(ValueError, match="choose with --env-args"):
        common_environment([sets, larger], None, None)


def test_labels_are_made_different(runs):
    config = agents.evaluate.EvaluateConfig(model=())
    a, b = (find_candidate(str(run)) for run in runs)
    labels = agents.evaluate._labels
    assert labels(config, [a, b], [3, 1]) == ["sets", "singles"]
    assert labels(config, [a, a, b], [3, 1, 1]) == ["sets-m3", "sets-m1", "singles"]
    assert labels(config, [a, replace(a, source="elsewhere")], [3, 3]) == [a.source, "elsewhere"]


def test_models_that_say_nothing_take_the_defaults_of_the_environment_that_was_asked_for(tmp_path):
    for env, small in LAPTOP.items():
        builtin = find_candidate("builtin", env)
        assert (builtin.env_args, builtin.max_tokens) == (small.env_args, small.max_tokens)
        assert common_environment([builtin], env, None) == (env, small.env_args)


def test_each_model_is_asked_as_it_was_trained_and_all_as_the_option_says(runs, tmp_path, monkeypatch):
    goals = make_run(tmp_path / "goals", "goal_conditioned", 2)
    small = ["evaluate.py", "--model", str(runs[0]), str(goals), *SMALL, "--output", str(tmp_path / "out")]

    def asked(*more: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", [*small, *more])
        agents.evaluate.main()
        data = json.loads((tmp_path / "out" / "evaluation.json").read_text())
        return [policy["prompt_weights"] for policy in data["policies"]]

    assert asked() == ["none", "random"]
    assert asked("--prompt-weights", "reference") == ["reference", "reference"]
    assert asked("--prompt-weights", "none") == ["none", "none"]
