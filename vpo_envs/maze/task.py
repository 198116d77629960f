"""The maze task: how a maze is asked, how an answer is read, and what it earns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpo_envs.answers import ask_for_answers, describe_weights
from vpo_envs.maze.board import MOVE_INDEX, Maze
from vpo_envs.maze.demonstrations import careless_route
from vpo_envs.maze.generator import MIN_SIZE, check_slack
from vpo_envs.maze.pareto import pareto_front
from vpo_envs.maze.problems import generated_maze, load_mazes
from vpo_envs.maze.render import draw_ansi, draw_rgb
from vpo_envs.maze.rewards import ScoreMode, reward_of, route, walk
from vpo_envs.problem_lists import GeneratedProblems, check_index, check_whole
from vpo_envs.task import Message, Objective, Split, Task

_NOTHING = (0.0, 0.0, 0.0, 0.0)


class MazeTask(Task[Maze]):
    """Find a way through a maze whose treasures lie in opposite corners.

    ## Description
    A `size` x `size` grid with S and E on opposite corners. Gold lies around one of the other corners, diamonds around
    the other, lava in the interior, a bonus tile in the centre. The step budget is enough for one treasure corner and
    never for both, so the objectives conflict. The definition is that of Bahlous-Boldi et al. (arXiv 2605.22817).

    ## Answer
    The moves UP, DOWN, LEFT, RIGHT in any case, separated by white space or commas, inside `<answer>`. Other words in
    there are ignored, so `RIGHT (0,1) DOWN (1,1)` is two moves. Without tags a response that consists of moves only is
    accepted; prose is not. For several answers the tags are `<route_1>`, `<route_2>` ...

    ## Rewards
    | objective    | value                                                                  |
    |--------------|------------------------------------------------------------------------|
    | `completion` | 1 if E is reached within the step budget                               |
    | `gold`       | share of the gold picked up before E                                   |
    | `diamond`    | share of the diamonds picked up before E                               |
    | `avoid_lava` | 1 - share of the lava cells stepped on                                 |

    All are 0 unless E is reached. A blocked move costs a step; the walk ends on E; an item counts once. Where a maze
    from a file has no gold (diamonds, lava), the share picked up (avoided) is 1. `score_mode="convex_bonus"` squares
    the shares of gold and diamond, multiplies them by 1.5 if the bonus was visited, and clips at 1.

    ## Arguments
    * `split`: "train" or "test"; no grid is in both.
    * `data`: a JSON-lines file of `{"grid": "S . #\\n...", "max_steps": 23}`, used for either split; default generated.
    * `size`: 5 or more, default 9 (the paper's). `slack`: steps beyond the longer way via a treasure corner, default 7,
      at most 2 * size - 3 (with more, both corners would fit).
    * `score_mode`: "linear" (default) or "convex_bonus".
    * `num_problems`: generated mazes in the split; default 1000 for training and 100 for testing (the paper's). Of a
      file, the first so many.
    * `skip_bad_rows`: leave bad rows of a file out, with a warning, instead of refusing the file.

    ## Version History
    v0: first version.
    """

    objectives = (
        Objective("completion", "reach E within the step limit"),
        Objective("gold", "share of the gold picked up on the way to E"),
        Objective("diamond", "share of the diamonds picked up on the way to E"),
        Objective("avoid_lava", "share of the lava cells not stepped on"),
    )
    answer_tag = "route"
    render_modes = ("ansi", "rgb_array")

    def __init__(
        self,
        split: Split = "train",
        data: str | None = None,
        size: int = 9,
        slack: int = 7,
        score_mode: ScoreMode = "linear",
        num_problems: int | None = None,
        skip_bad_rows: bool = False,
    ) -> None:
        super().__init__(split, data)
        check_whole("Maze: size", size, MIN_SIZE, 64)
        check_whole("Maze: slack", slack, 0)
        if num_problems is not None:
            check_whole("Maze: num_problems", num_problems, 1)
        if score_mode not in ("linear", "convex_bonus"):
            raise ValueError(f"Maze: score_mode must be 'linear' or 'convex_bonus', not {score_mode!r}")
        self.size, self.slack, self.score_mode = size, slack, score_mode
        self._problems: Sequence[Maze]
        if data is None:
            check_slack(size, slack)
            length = num_problems or (1000 if split == "train" else 100)
            self._problems = GeneratedProblems(length, partial(generated_maze, split, size, slack))
        elif data == "hub":
            raise ValueError("Maze: there is no published maze data set; leave data=None or name a JSON-lines file")
        else:
            self._problems = load_mazes(data, skip_bad_rows)[:num_problems]

    def __len__(self) -> int:
        return len(self._problems)

    def __getitem__(self, index: int) -> Maze:
        return self._problems[check_index(index, len(self))]

    def messages(self, problem: Maze, num_answers: int = 1, weights: Sequence[float] | None = None) -> list[Message]:
        # The grid comes early and what depends on the number of answers comes last, so that prompts share a prefix.
        grid = "\n".join(" ".join(row) for row in problem.rows)
        lines = [
            "Plan a route from S to E.",
            f"Steps: {problem.max_steps}",
            grid,
            "Tiles: . floor, # wall, G gold, D diamond, L lava, B bonus. Cells are (row,column), from (0,0).",
            "Moves: UP, DOWN, LEFT, RIGHT. A move into a wall or off the grid costs a step and goes nowhere.",
            "The route must reach E within the steps. Also wanted: much gold, many diamonds, little lava. Not all of "
            "it fits into one route.",
        ]
        if num_answers == 1:
            lines.append("Write the moves inside <answer> and </answer>, each followed by the cell it leads to.")
        else:
            lines.append(ask_for_answers(self.answer_tag, num_answers, "routes"))
            lines.append("Follow each move by the cell it leads to.")
        if weights is not None:
            lines.append(describe_weights([o.name for o in self.objectives], weights))
        return [{"role": "user", "content": "\n".join(lines)}]

    def extract(self, response: str) -> str | None:
        answer = super().extract(response)
        if answer is None and (words := _words(response)) and all(w in MOVE_INDEX for w in words):
            return response
        return answer

    def normalise(self, answer: str) -> tuple[int, ...]:
        return tuple(parse_moves(answer))

    def score(self, problem: Maze, answer: str) -> NDArray[np.float32]:
        return np.array(self._score(problem, answer), np.float32)

    def score_batch(self, problems: Sequence[Maze], answers: Sequence[str]) -> NDArray[np.float32]:
        scores = [self._score(p, a) for p, a in zip(problems, answers, strict=True)]
        return np.array(scores, np.float32).reshape(len(scores), 4)

    def _score(self, maze: Maze, answer: str) -> tuple[float, float, float, float]:
        visited = walk(maze, parse_moves(answer))
        return _NOTHING if visited is None else reward_of(maze, visited, self.score_mode)

    def pareto_front(self, problem: Maze) -> NDArray[np.float32]:
        """The exact set of attainable, non-dominated reward vectors, float32 (n, 4). See `vpo_envs.maze.pareto`."""
        return pareto_front(problem, self.score_mode)

    def demonstration(self, problem: Maze, rng: Random) -> str:
        return careless_route(problem, rng)

    def render(
        self,
        problem: Maze,
        answers: Sequence[str | None],
        rewards: NDArray[np.float32],
        mode: str = "ansi",
        details: Sequence[dict[str, Any]] = (),
    ) -> Any:
        """The maze and the routes of the answers: text with rewards ("ansi"), or uint8 (h, w, 3) ("rgb_array")."""
        routes = [[] if a is None else route(problem, parse_moves(a)) for a in answers]
        if mode == "rgb_array":
            return draw_rgb(problem, routes)
        return draw_ansi(problem, routes, rewards, [o.name for o in self.objectives])


def _words(text: str) -> list[str]:
    """Upper-case words. Angle brackets separate too, so that a stray tag does not swallow the move beside it.

    Words with other letters stay as they are: the upper case of a dotless i is a plain I.
    """
    words = text.replace(",", " ").replace("<", " ").replace(">", " ").split()
    return [word.upper() if word.isascii() else word for word in words]


def parse_moves(answer: str) -> list[int]:
    """The moves in an answer as indices into UP, DOWN, LEFT, RIGHT; all other words are ignored."""
    if answer.isascii():  # nearly always, and then bytes are the faster way to the same words
        moves = map(_ASCII_MOVE, answer.encode().translate(_ASCII_WORDS).split())
        return [move for move in moves if move is not None]
    return [MOVE_INDEX[word] for word in _words(answer) if word in MOVE_INDEX]


# Upper case, and a space for what separates words in `_words`: commas, angle brackets, and four control characters that
# are white space in a str but not in bytes.
_ASCII_WORDS = bytes(
    32 if chr(i) in ",<>" or 28 <= i <= 31 else ord(chr(i).upper()) if i < 128 else i for i in range(256)
)
_ASCII_MOVE = {name.encode(): i for name, i in MOVE_INDEX.items()}.get
