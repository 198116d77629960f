"""Rows of HumanEval (Chen et al. 2021, arXiv 2107.03374): functions to be completed, and code that checks them."""

from __future__ import annotations

from vpo_envs.code.problems import CodeProblem
from vpo_envs.code.sandbox import make_check
from vpo_envs.data_files import Record

FIELDS = ("task_id", "canonical_solution", "entry_point")
"""Any of them tells that a row is one of HumanEval."""
ROW = '{"task_id", "prompt", "entry_point", "canonical_solution", "test"}'


def parse_row(record: Record) -> CodeProblem:
    """One row. ValueError names the problem and the field."""
    name = record.text("task_id")
    try:
        return _problem(record, name)
    except ValueError as error:
        raise ValueError(f"problem {name}: {error}") from None


def _problem(record: Record, name: str) -> CodeProblem:
    prompt, entry_point, test = (record.text(field) for field in ("prompt", "entry_point", "test"))
    if not entry_point.isidentifier():
        raise record.error("entry_point", f"is no name of a function: {entry_point[:40]!r}")
    prompt += "" if prompt.endswith("\n") else "\n"
    reference = prompt + record.text("canonical_solution") if record.has("canonical_solution") else ""
    try:
        # Some checks call helpers of the prompt, and one compares with the function itself: with the correct one here.
        check = make_check(setup=reference or prompt, source=test)
    except ValueError as error:
        raise record.error("test", f"cannot be used with field 'prompt': {error}") from None
    return CodeProblem(
        name=name,
        statement="Complete this function.",
        tests=check,
        entry_point=entry_point,
        starter_code=prompt,
        reference=reference,
        prelude=prompt,
    )
