"""The programs on the documentation pages run and print what the pages say."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from docs_helpers import COMMAND, DOCS, programs


@pytest.mark.parametrize("page", ["adapters.md", "benchmarking.md", "new_task.md"])
def test_the_programs_on_a_page_print_what_it_states(page: str, tmp_path: Path) -> None:
    found = programs(page)
    assert any(stated for _, _, stated in found), f"{page} states no output"
    for name, program, stated in found:
        (tmp_path / name).write_text(program)
        run = subprocess.run(
            [sys.executable, "-W", "error", name],
            cwd=tmp_path,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout == (stated or "")


def test_the_example_task_passes_the_checks_that_the_page_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gymnasium as gym
    from gymnasium.utils.env_checker import check_env
    from helpers import LinearReward

    name, program, _ = programs("new_task.md")[0]
    (tmp_path / name).write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        env = gym.make("sentence:my/Sentence-v0", num_answers=2)
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message=r".*different from the unwrapped version"
            )  # LinearReward is wanted
            check_env(LinearReward(env))
        task = env.unwrapped.task  # type: ignore[attr-defined]
        words, letter = task[0]
        assert task.score(task[0], " ".join(words))[:2].tolist() == [1.0, 1.0]
        assert task.score(task[0], "x").tolist() == [0.0, 1.0, 1.0]
        assert task.score(task[0], letter * 3).tolist() == [0.0, 1.0, 0.0]
        test = type(task)("test")
        trained = {tuple(task[i][0]) for i in range(len(task))}
        assert trained.isdisjoint(tuple(test[i][0]) for i in range(len(test)))
    finally:
        gym.registry.pop("my/Sentence-v0", None)
        sys.modules.pop("sentence", None)


CHEAPER = {  # options that are added to the commands of a page
    "warm_start.py": ["--steps", "3", "--batch", "8", "--layers", "1", "--width", "32"],
    "train_vpo.py": [
        *("--steps", "1", "--prompts", "2", "--answers-per-prompt", "6", "--sampling.max-tokens", "8"),
        *("--device", "cpu", "--preset", "laptop", "--threads", "1", "--no-final-evaluation"),
    ],
}


@pytest.mark.slow
def test_the_commands_that_train_on_the_example_task_run(tmp_path: Path) -> None:
    name, program, _ = programs("new_task.md")[0]
    (tmp_path / name).write_text(program)
    commands = COMMAND.findall((DOCS / "new_task.md").read_text())
    assert len(commands) == 2
    for command in commands:
        script, *words = shlex.split(command)
        run = subprocess.run(
            [sys.executable, str(DOCS.parent / script), *words, *CHEAPER[Path(script).name]],
            cwd=tmp_path,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
    assert (tmp_path / "runs/policies/my/Sentence-v0/config.json").is_file()
    assert len(list((tmp_path / "runs").glob("*/final/config.json"))) == 1
