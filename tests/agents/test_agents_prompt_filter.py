"""Problems of a data set whose prompts are too long are left out, counted, and the same for all policies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.config import EvaluationConfig
from agents.environment import Environment
from agents.evaluation import problems_for_all
from agents.policy import Policy
from agents.prompt_filter import fitting_problems

SMALL = {"grid": "S . E\n. # .\n. . .", "max_steps": 9}
LARGE = {"grid": "\n".join([" ".join("S" + "." * 20)] + [" ".join("." * 21)] * 19 + [" ".join("." * 20 + "E")]),
         "max_steps": 99}  # fmt: skip


@pytest.fixture
def mazes(tmp_path: Path) -> str:
    path = tmp_path / "mazes.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (SMALL, LARGE, SMALL, LARGE, LARGE, SMALL)))
    return str(path)


def environment(mazes: str, m: int = 1) -> Environment:
    return Environment("vpo/Maze-v0", {"data": mazes}, m, "test")


def test_too_long_ones_are_left_out_and_reported(
    mazes: str, policy: Policy, capsys: pytest.CaptureFixture[str]
) -> None:
    one = environment(mazes)
    lengths = [len(policy.prompt_ids(one.task.messages(one.task[i]))) for i in range(6)]
    assert lengths[0] < 100 < lengths[1]
    assert fitting_problems([(policy, one)], 100, 20) == [0, 2, 5]
    report = f"vpo/Maze-v0: 3 of 6 test problems left out: prompts of more than 100 tokens (longest: {lengths[1]})"
    assert report in capsys.readouterr().err
    assert fitting_problems([(policy, one)], 100, 20, wanted=2) == [0, 2]
    assert "1 of 3 test problems" in capsys.readouterr().err
    assert fitting_problems([(policy, one)], 100, 20, wanted=2, start=1) == [2, 5]
    with pytest.raises(ValueError, match="has 6 test problems, none from number 6 on"):
        fitting_problems([(policy, one)], 100, 20, start=6)
    # The context bounds a prompt too: what the response needs must be left.
    assert fitting_problems([(policy, one)], 10**6, policy.context - 100) == [0, 2, 5]
    with pytest.raises(ValueError, match=r"6 of 6 test problems have prompts of more than 5 tokens.*--prompt-tokens"):
        fitting_problems([(policy, one)], 5, 20)
    room = policy.context - 5
    with pytest.raises(ValueError, match=rf"lower --sampling.max-tokens {room}, or .* more than {policy.context} tok"):
        fitting_problems([(policy, one)], 10**6, room)


def test_every_policy_must_have_room(mazes: str, policy: Policy) -> None:
    lengths = [len(policy.prompt_ids(environment(mazes).task.messages(environment(mazes).task[0], m))) for m in (1, 3)]
    assert lengths[0] < lengths[1]
    config = EvaluationConfig(problems=6)
    assert problems_for_all([(policy, 1)], "vpo/Maze-v0", [f"data={mazes}"], config, 20, lengths[0]) == [0, 2, 5]
    with pytest.raises(ValueError, match="none is left"):
        problems_for_all([(policy, 1), (policy, 3)], "vpo/Maze-v0", [f"data={mazes}"], config, 20, lengths[0])


def test_generated_problems_are_not_filtered(policy: Policy) -> None:
    generated = Environment("vpo/Maze-v0", {"size": 5, "slack": 4}, 1)
    assert fitting_problems([(policy, generated)], 5, 20) is None
