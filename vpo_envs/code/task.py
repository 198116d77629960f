"""The programming task: how a problem is asked, how a program is found in a response, and what it earns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from os import PathLike
from random import Random
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vpo_envs.answers import ask_for_answers, describe_weights, prompt_text, without_reasoning
from vpo_envs.code import rules
from vpo_envs.code.answer_text import complete_program, fenced, find_program, same_program_key
from vpo_envs.code.bank import bank_problems
from vpo_envs.code.data_sets import load_code_problems
from vpo_envs.code.problems import MAX_TESTS, CodeProblem
from vpo_envs.code.sandbox import Job, Limits, Sandbox, Verdict, check_tolerance
from vpo_envs.problem_lists import GeneratedProblems, check_index, check_whole
from vpo_envs.task import Message, Objective, Split, Task


class CodeTask(Task[CodeProblem]):
    """Write a program that passes tests.

    ## Description
    A problem asks for a Python program that reads standard input and prints, or for a function. The program is run on
    each test in a sandbox (`vpo_envs.code.sandbox`), and every test is an objective of its own. The reward vector is
    that of Bahlous-Boldi et al. (arXiv 2605.22817), the problems from files those of LiveCodeBench (Jain et al. 2024,
    arXiv 2403.07974) and HumanEval (Chen et al. 2021, arXiv 2107.03374). Embedded problems come from a bank of small
    problems, or are generated rules in a small grammar.

    ## Answer
    The last fenced block of Python (```python), else the last block without a language, of those that are complete and
    not blank; or a response that is nothing but a program. For several answers each stands inside `<solution_1>`,
    `<solution_2>` ..., as a block or bare. What stands in `<think>` is no answer. Programs that differ only in comments
    and white space are the same answer.

    Where a function is to be completed (HumanEval), the answer is the whole function or only the rest of its body, and
    what was shown runs before it. For LiveCodeBench the usual imports run before the program.

    ## Rewards
    `test_i` is 1 if the program passes the i-th test of the problem and else 0. A problem with n < 16 tests has only
    the first n objectives (`objective_mask`); the others are 0 for every answer, and the weights of a problem are equal
    over its real tests. A program that cannot be compiled earns nothing.

    ## Info
    `step` adds `verdicts`: for each answer a tuple with one word for each test ("pass", "wrong answer", "time limit",
    "memory limit", "output limit", "runtime error", "compile error"), and `stderr_tail`: in the same places the end of
    what the program wrote to standard error, at most 1,000 characters. Both are None for an absent answer.

    A fault of the grader is an error (`SandboxError`), never a score.

    ## Arguments
    * `split`: "train" or "test". No embedded problem is in both.
    * `data`: None (embedded); a file of LiveCodeBench or HumanEval, used whole for either split; a folder of
      LiveCodeBench files, or "hub" (livecodebench/code_generation_lite), split by `contest_date` as in the paper:
      training before 2025-02-01, testing from then on and before 2025-05-01.
    * `skip_bad_rows`: leave bad rows out and warn, instead of raising.
    * `problems`: embedded ones: "bank", or "rules" for generated ones.
    * `num_problems`: of the bank or loaded: at most so many, default all; generated: 1000 for training and 100 for
      testing.
    * `cases` (1 to 3, default 2), `numbers` (10 to 50, default 20), `tests` (4 to 16, default 8), `is_open` (default
      True): of generated rules, see `vpo_envs.code.rules.rule_problem`.
    * `time_limit`: seconds of processor time for one test, default 6, at most 3600. `memory_mb`: memory of a program,
      16 to 1,048,576, default 512.
    * `workers`: processes that run programs, default one for each core.
    * `tolerance`: by how much a number with a fraction may differ (above 0, below 1), where the problem does not say;
      default not at all.
    * `unsafe`: run programs also where the sandbox cannot protect this machine from them.

    ## Version History
    v0: first version.
    """

    objectives = tuple(Objective(f"test_{i}", f"test {i} is passed") for i in range(1, MAX_TESTS + 1))
    answer_tag = "solution"
    answer_details = ("verdicts", "stderr_tail")
    _sandbox: Sandbox | None = None

    def __init__(
        self,
        split: Split = "train",
        data: str | None = None,
        skip_bad_rows: bool = False,
        problems: Literal["bank", "rules"] = "bank",
        num_problems: int | None = None,
        cases: int = 2,
        numbers: int = 20,
        tests: int = 8,
        is_open: bool = True,
        time_limit: float = 6.0,
        memory_mb: int = 512,
        workers: int | None = None,
        tolerance: float | None = None,
        unsafe: bool = False,
    ) -> None:
        if data is not None and not (data and isinstance(data, str | PathLike)):
            raise ValueError(f"Code: data must be None, a path or 'hub', not {data!r}")
        super().__init__(split, data)
        for name, flag in (("skip_bad_rows", skip_bad_rows), ("is_open", is_open), ("unsafe", unsafe)):
            if not isinstance(flag, bool):
                raise ValueError(f"Code: {name} must be True or False, not {flag!r}")
        if problems not in ("bank", "rules"):
            raise ValueError(f"Code: problems must be 'bank' or 'rules', not {problems!r}")
        if num_problems is not None:
            check_whole("Code: num_problems", num_problems, 1)
        if workers is not None:
            check_whole("Code: workers", workers, 1)
        check_whole("Code: memory_mb", memory_mb, 16, 1 << 20)
        if isinstance(time_limit, bool) or not isinstance(time_limit, int | float) or not 1e-3 <= time_limit <= 3600:
            raise ValueError(f"Code: time_limit must be a number from 0.001 to 3600, not {time_limit!r}")
        check_tolerance("Code: tolerance", tolerance)
        self.limits = Limits(seconds=float(time_limit), memory_mb=memory_mb)
        self.tolerance, self.workers, self.unsafe = tolerance, workers, unsafe
        self.generates = data is None and problems == "rules"
        of_rules: dict[str, tuple[Any, Any]] = {
            "cases": (cases, 2),
            "numbers": (numbers, 20),
            "tests": (tests, 8),
            "is_open": (is_open, True),
        }
        if data is not None:
            of_rules["problems"] = (problems, "bank")
        for name, (value, default) in of_rules.items():
            if not self.generates and value != default:
                source = "data" if data is not None else "problems='bank'"
                raise ValueError(f"Code: {name}={value!r} is for generated rules (problems='rules'), not for {source}")
        self._problems: Sequence[CodeProblem]
        if self.generates:
            length = num_problems or (1000 if split == "train" else 100)
            make = partial(_generate, split, cases, numbers, tests, is_open)
            make(0)  # so that a bad argument is an error here
            self._problems = GeneratedProblems(length, make)
        else:
            all_problems = bank_problems(split) if data is None else load_code_problems(data, split, skip_bad_rows)
            self._problems = all_problems[:num_problems]

    def __len__(self) -> int:
        return len(self._problems)

    def __getitem__(self, index: int) -> CodeProblem:
        return self._problems[check_index(index, len(self))]

    def objective_mask(self, problem: CodeProblem) -> NDArray[np.bool_]:
        return np.arange(MAX_TESTS) < problem.num_tests

    # ---- asking -------------------------------------------------------------------------------------------------

    def messages(
        self, problem: CodeProblem, num_answers: int = 1, weights: Sequence[float] | None = None
    ) -> list[Message]:
        lines = [problem.statement, ""]
        if problem.entry_point is None:
            lines.append("Write a Python program that reads standard input and prints to standard output.")
        else:
            lines.append(f"Write Python code that defines {problem.entry_point}.")
        if problem.starter_code:
            lines += ["It begins like this:", fenced(problem.starter_code.rstrip("\n"))]
        lines.append("It is run on several tests, and every test that it passes counts.")
        if num_answers == 1:
            lines.append("Give it as one block, between a line ```python and a line ```.")
        else:
            lines.append(ask_for_answers(self.answer_tag, num_answers, "programs"))
            lines.append("Each is complete and stands alone.")
        if weights is not None:
            real = np.asarray(weights, np.float64)[: problem.num_tests]
            names = [objective.name for objective in self.objectives[: problem.num_tests]]
            lines.append(describe_weights(names, (real / (real.sum() or 1.0)).tolist()))
        return [{"role": "user", "content": "\n".join(lines)}]

    # ---- answers ------------------------------------------------------------------------------------------------

    def extract(self, response: str) -> str | None:
        return find_program(without_reasoning(response))

    def wrap(self, answer: str) -> str:
        return fenced(answer)

    def is_answer(self, answer: str) -> bool:
        return self.extract(answer) is not None

    def normalise(self, answer: str) -> Hashable:
        return same_program_key(self._program(answer))

    def _program(self, answer: str) -> str:
        """The program in an answer, which may be one that does not parse."""
        program = self.extract(answer)
        return answer if program is None else program

    # ---- scoring ------------------------------------------------------------------------------------------------

    def score(self, problem: CodeProblem, answer: str) -> NDArray[np.float32]:
        return self.score_batch([problem], [answer])[0]

    def score_batch(self, problems: Sequence[CodeProblem], answers: Sequence[str]) -> NDArray[np.float32]:
        return self.score_details(problems, answers)[0]

    def score_details(
        self, problems: Sequence[CodeProblem], answers: Sequence[str]
    ) -> tuple[NDArray[np.float32], list[dict[str, Any]]]:
        """Run all programs in one batch, the same program for the same problem once."""
        jobs: dict[tuple[int, str], Job] = {}
        keys = []
        for problem, answer in zip(problems, answers, strict=True):
            program = complete_program(self._program(answer), problem.prelude, problem.entry_point)
            tolerance = self.tolerance if problem.tolerance is None else problem.tolerance
            keys.append((id(problem), program))
            jobs[keys[-1]] = Job(program, problem.tests, problem.entry_point, tolerance)
        results = dict(zip(jobs, self._run(list(jobs.values())), strict=True))
        rewards = np.zeros((len(keys), MAX_TESTS), np.float32)
        details = []
        for row, key in zip(rewards, keys, strict=True):
            verdicts = [result.verdict for result in results[key]]
            row[: len(verdicts)] = [verdict is Verdict.PASS for verdict in verdicts]
            tails = tuple(result.stderr_tail for result in results[key])
            details.append({"verdicts": tuple(verdict.value for verdict in verdicts), "stderr_tail": tails})
        return rewards, details

    def _run(self, jobs: list[Job]) -> list[Any]:
        if not jobs:
            return []
        if self._sandbox is None:
            self._sandbox = Sandbox(self.workers, self.limits, self.unsafe)
        return self._sandbox.run_batch(jobs)

    def close(self) -> None:
        """End the processes that run programs; they are started again when they are needed."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_sandbox"}

    # ---- programs that are known --------------------------------------------------------------------------------

    def gold(self, problem: CodeProblem) -> str:
        """A program that passes every test. ValueError if none is known."""
        if not problem.reference:
            raise ValueError(f"Code: no correct program is known for problem {problem.name}")
        return problem.reference

    def demonstration(self, problem: CodeProblem, rng: Random) -> str:
        """The reference in one of two cases, else a program that passes some of the tests."""
        if self.generates:
            return rules.demonstration(problem, rng)
        if problem.partial and rng.random() < 1 / 2:
            return rng.choice(problem.partial)
        return self.gold(problem)

    # ---- looking ------------------------------------------------------------------------------------------------

    def render(
        self,
        problem: CodeProblem,
        answers: Sequence[str | None],
        rewards: NDArray[np.float32],
        mode: str = "ansi",
        details: Sequence[dict[str, Any]] = (),
    ) -> Any:
        """The prompt and, for each answer, the verdict of each test with what the program wrote to standard error."""
        lines = [prompt_text(self.messages(problem, max(1, len(answers))))]
        for i, (answer, row, known) in enumerate(zip(answers, rewards, details, strict=True), start=1):
            if answer is None:
                lines.append(f"--- answer {i}: (none)")
                continue
            lines += [f"--- answer {i}: {row.sum():.0f} of {problem.num_tests} tests passed", answer]
            for j, (verdict, tail) in enumerate(zip(known["verdicts"], known["stderr_tail"], strict=True), start=1):
                lines.append(f"test_{j}: {verdict}")
                lines += ["    " + "".join(c if c.isprintable() else "�" for c in s) for s in tail.splitlines()]
        return "\n".join(lines)


def _generate(split: Split, cases: int, numbers: int, tests: int, is_open: bool, index: int) -> CodeProblem:
    return rules.rule_problem(split, index, cases, numbers, tests, is_open)
