"""The programs on the documentation pages run and print what the pages say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs(page: str) -> list[tuple[str, str, str | None]]:
    """(file name, program, stated output) of every Python block that starts with its file name, in order."""
    blocks = BLOCK.findall((DOCS / page).read_text())
    found: list[tuple[str, str, str | None]] = []
    for i, (kind, text) in enumerate(blocks):
        if kind == "python" and (name := re.match(r"# (\w+\.py)\n", text)):
            stated = blocks[i + 1][1] if i + 1 < len(blocks) and blocks[i + 1][0] == "text" else None
            found.append((name[1], text, stated))
    return found


@pytest.mark.parametrize("page", ["new_task.md"])
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
