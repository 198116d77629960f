"""The tool-calling task: how a conversation is shown, how an answer is read, and what it earns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from functools import partial
from random import Random

import numpy as np
from numpy.typing import NDArray

from vpo_envs.answers import ask_for_answers, describe_weights
from vpo_envs.problem_lists import GeneratedProblems, check_index, check_whole
from vpo_envs.task import Message, Objective, Split, Task
from vpo_envs.toolrl.answer_text import read_answer
from vpo_envs.toolrl.catalogue import THINGS
from vpo_envs.toolrl.demonstrations import careless_answer
from vpo_envs.toolrl.generator import generated_problem
from vpo_envs.toolrl.problems import ToolProblem, load_tool_problems
from vpo_envs.toolrl.rewards import reward_of

MOST_TOOLS, MOST_CALLS, MOST_PARAMETERS = 16, 5, 6
FEWEST_THINGS = 6  # with which there are skills enough for the most tools and calls


class ToolRLTask(Task[ToolProblem]):
    """Call the right tools with the right arguments.

    ## Description
    A chat prompt lists tools and holds what the user asks for. Some requests need one call, some several, some none.
    The task and its real data are those of ToolRL (Qian et al. 2025, arXiv 2504.13958), the reward vector is that of
    Bahlous-Boldi et al. (arXiv 2605.22817). Embedded problems are generated: invented tools whose names, parameters
    and types are combined anew for every problem, and requests that give the values in words.

    ## Answer
    `<think>` with a plan, then `<tool_call>` with one JSON object `{"name": ..., "parameters": {...}}` a line, or
    `<response>` with words to the user, or both. Also accepted: an array of such objects, an object over several lines,
    several `<tool_call>` elements (they count as one), `arguments` for `parameters`; a call with neither has no
    parameters. For several answers each stands inside `<response_1>`, `<response_2>` ...

    Calls cannot be read where any part of a complete `<tool_call>` element is no such JSON, where an object has a key
    twice, NaN, an infinity, a number of more than 300 characters or more than 32 levels, where there are more than 100
    calls, or where there is a `<tool_call>` tag and no complete element. Then none counts and `format` is 0. What
    stands in `<think>` is never a call. A response without any complete element holds no answer.

    ## Rewards
    | objective   | value                                                                                          |
    |-------------|------------------------------------------------------------------------------------------------|
    | `format`    | 1 if there is a complete `<think>` with text in it, and at least one call that can be read;    |
    |             | where no call is expected: the thought, and no `<tool_call>` tag at all                        |
    | `tool_name` | multiset F1 of the names of the calls                                                          |
    | `arg_key`   | mean over pairs of calls of the set F1 of their parameter names                                |
    | `arg_value` | mean over pairs of calls of (sum over the expected parameters of how well the values match) /  |
    |             | (number of expected parameters); 1 if there are none                                           |

    Each stands alone. Calls are paired one to one, so that most pairs have equal names; then, so that their parameter
    names overlap most; then, so that their values match best: the order of calls does not matter. A call without a
    partner, expected or made, counts 0 in both means. A pair may have different names: a call of the wrong tool can
    still have the right arguments, and only `tool_name` tells the difference. Where no call is expected, `tool_name`,
    `arg_key` and `arg_value` are 1 if none is made and else 0. The words in `<response>` are not scored, nor whether
    there are any.

    Values (`vpo_envs.toolrl.values.match`): numbers and booleans by value, also as texts that spell them ("27.0" is
    27, "False" is false, 1 is not true); other texts by token F1; lists by multiset F1; objects by the mean over the
    expected keys; null is null.

    Against gaming: a call made twice lowers `tool_name`, `arg_key` and `arg_value`; a missing parameter is 0 and one
    too many lowers `arg_key`; a call where none is expected earns nothing, and breaking its JSON or its tags does not
    change that; calls in the thought, truncated JSON and unclosed elements earn nothing.

    ## Arguments
    * `split`: "train" or "test"; no generated problem is in both.
    * `data`: None (generated); a parquet or JSON-lines file, used for either split; a folder with `train.parquet` and
      `test.parquet` as in ToolRL's `dataset/rlla_4k`; or "hub" (emrecanacikgoz/ToolRL). Their prompts are used as
      they are; what is needed for several answers or for weights is added at the end of the last user message.
    * `skip_bad_rows`: leave bad rows out and warn, instead of raising.
    * `num_problems`: generated: 1000 for training and 100 for testing; loaded: at most so many, default all.
    * `tools`: tools shown, 1 to 16, default 4. `calls`: numbers of calls that occur, each 0 to 5, default (0, 1, 2).
      `parameters`: most parameters of a tool, 1 to 6, default 3. `things`: tools deal with the first so many of 18
      things (hotel rooms, parcels ...), 6 to 18, default 18. For generated problems only.

    ## Version History
    v0: first version.
    """

    objectives = (
        Objective("format", "a thought, and well-formed calls exactly where calls are needed"),
        Objective("tool_name", "the right tools are called, each as often as needed"),
        Objective("arg_key", "the calls have the right parameters"),
        Objective("arg_value", "the parameters have the right values"),
    )
    answer_tag = "response"

    def __init__(
        self,
        split: Split = "train",
        data: str | None = None,
        skip_bad_rows: bool = False,
        num_problems: int | None = None,
        tools: int = 4,
        calls: int | Sequence[int] = (0, 1, 2),
        parameters: int = 3,
        things: int = len(THINGS),
    ) -> None:
        super().__init__(split, data)
        self.tools = check_whole("ToolRL: tools", tools, 1, MOST_TOOLS)
        self.parameters = check_whole("ToolRL: parameters", parameters, 1, MOST_PARAMETERS)
        self.things = check_whole("ToolRL: things", things, FEWEST_THINGS, len(THINGS))
        self.calls = _check_calls(calls)
        if num_problems is not None:
            check_whole("ToolRL: num_problems", num_problems, 1)
        self._problems: Sequence[ToolProblem]
        if data is None:
            length = num_problems or (1000 if split == "train" else 100)
            make = partial(_generate, split, self.tools, self.calls, self.parameters, self.things)
            self._problems = GeneratedProblems(length, make)
        else:
            self._problems = load_tool_problems(data, split, skip_bad_rows)[:num_problems]

    def __len__(self) -> int:
        return len(self._problems)

    def __getitem__(self, index: int) -> ToolProblem:
        return self._problems[check_index(index, len(self))]

    def messages(
        self, problem: ToolProblem, num_answers: int = 1, weights: Sequence[float] | None = None
    ) -> list[Message]:
        messages = problem.messages
        lines = []
        if num_answers > 1:
            lines.append(ask_for_answers(self.answer_tag, num_answers, "answers"))
            lines.append("Each has its own <think>, and its own <tool_call> or <response>.")
        if weights is not None:
            lines.append(describe_weights([o.name for o in self.objectives], weights))
        last = max(i for i, message in enumerate(messages) if message["role"] == "user")
        messages[last]["content"] = "\n".join([messages[last]["content"], *lines])
        return messages

    def extract(self, response: str) -> str | None:
        return response if read_answer(response).complete else None

    def wrap(self, answer: str) -> str:
        return answer

    def is_answer(self, answer: str) -> bool:
        return self.extract(answer) is not None

    def normalise(self, answer: str) -> Hashable:
        read = read_answer(answer)
        calls = None
        if read.calls is not None:
            calls = frozenset(Counter((call.name, call.form.key) for call in read.calls).items())
        return read.thinks, read.responds, read.tagged, calls

    def score(self, problem: ToolProblem, answer: str) -> NDArray[np.float32]:
        return np.array(reward_of(read_answer(answer), problem.gold), np.float32)

    def score_batch(self, problems: Sequence[ToolProblem], answers: Sequence[str]) -> NDArray[np.float32]:
        scores = [reward_of(read_answer(a), p.gold) for p, a in zip(problems, answers, strict=True)]
        return np.array(scores, np.float32).reshape(len(scores), 4)

    def gold(self, problem: ToolProblem) -> str:
        """An answer that scores 1 on every objective."""
        return problem.ground_truth

    def demonstration(self, problem: ToolProblem, rng: Random) -> str:
        return careless_answer(problem, rng)


def _generate(
    split: Split, tools: int, calls: tuple[int, ...], parameters: int, things: int, index: int
) -> ToolProblem:
    return generated_problem(split, index, tools, calls, parameters, things)


def _check_calls(calls: int | Sequence[int]) -> tuple[int, ...]:
    numbers = tuple(calls) if isinstance(calls, list | tuple) else (calls,)
    if not numbers:
        raise ValueError("ToolRL: calls must name at least one number of calls")
    return tuple(check_whole("ToolRL: each of calls", number, 0, MOST_CALLS) for number in numbers)
