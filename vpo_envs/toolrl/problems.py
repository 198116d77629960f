"""One tool-calling problem, and reading problems from the data set's own files or from the hub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from vpo_envs.answers import has_tag
from vpo_envs.data_files import NumberedRow, Record, file_rows, hub_rows, load_problems
from vpo_envs.task import Message, Split
from vpo_envs.toolrl.answer_text import Answer, Call, read_answer

HUB_NAME = "emrecanacikgoz/ToolRL"
"""The authors' copy of rlla_4k on the hub."""
ROLES = ("system", "user", "assistant", "tool")
EXPECTED = '{"prompt": [{"role", "content"}, ...], "reward_model": {"ground_truth": "<think> ... </think> ..."}}'


@dataclass(frozen=True)
class ToolSpec:
    """A tool that can be called."""

    name: str
    required: tuple[str, ...]
    """Names of the parameters that every call must give."""
    optional: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolProblem:
    """A conversation to be continued, and a correct continuation."""

    prompt: tuple[tuple[str, str], ...]
    """(role, content) of each message."""
    ground_truth: str
    """A correct answer, as text."""
    tools: tuple[ToolSpec, ...] = field(default=(), compare=False)
    """The tools of a generated problem, for its demonstrations; in a loaded one they stand in the prompt only."""

    @property
    def messages(self) -> list[Message]:
        return [{"role": role, "content": content} for role, content in self.prompt]

    @cached_property
    def gold(self) -> tuple[Call, ...]:
        """The expected calls."""
        return read_answer(self.ground_truth).calls or ()


def official_row(problem: ToolProblem) -> dict[str, Any]:
    """A problem as a row of the data set; `parse_row` reads it back."""
    return {"prompt": problem.messages, "reward_model": {"ground_truth": problem.ground_truth, "style": "rule"}}


def parse_row(row: Any) -> ToolProblem:
    """One row of the data set, processed or raw (`instruction`, `input`, `output`). ValueError names the field."""
    record = Record(row)
    if record.has("output") and not record.has("prompt"):
        truth, field_name = record, "output"
        prompt: tuple[tuple[str, str], ...] = (
            ("system", record.text("instruction")),
            ("user", record.text("input")),
        )
    else:
        prompt = tuple(_message(message) for message in record.records("prompt"))
        if "user" not in [role for role, _ in prompt]:
            raise record.error("prompt", "has no message of the user")
        truth, field_name = record.record("reward_model"), "ground_truth"
    problem = ToolProblem(prompt, truth.text(field_name))
    if fault := _fault(read_answer(problem.ground_truth)):
        raise truth.error(field_name, fault)
    if has_tag(problem.ground_truth, "response", numbered=True):
        raise truth.error(field_name, "has a numbered <response_1> tag, which separates several answers")
    return problem


def _message(message: Record) -> tuple[str, str]:
    if message.text("role") not in ROLES:
        raise message.error("role", f"must be one of {', '.join(ROLES)}")
    return message.text("role"), message.text("content", empty=True)


def _fault(answer: Answer) -> str:
    """Why an answer cannot be a gold one; empty if it can."""
    if answer.calls is None:
        return "has calls that do not parse"
    if not answer.thinks:
        return "has no <think> element with text in it"
    if answer.tagged and not answer.calls:
        return "has a <tool_call> element without a call"
    return "" if answer.calls or answer.responds else "has neither a <tool_call> nor a <response> element"


def load_tool_problems(data: str, split: Split, skip_bad_rows: bool = False) -> list[ToolProblem]:
    """The problems of a file, of a split's file in a folder, or of a split on the hub ("hub").

    Raises:
        FileNotFoundError: no such file or folder, or none for the split in it.
        ValueError: the data cannot be read, or has bad rows (one error names all of them).
        ImportError: a package for this kind of data is missing.
    """
    where, rows = _source(data, split)
    return load_problems(where, rows, parse_row, skip_bad_rows, EXPECTED)


def _source(data: str, split: Split) -> tuple[str, Iterator[NumberedRow]]:
    if data == "hub":
        return f"{HUB_NAME} ({split})", hub_rows(HUB_NAME, split)
    path = Path(data)
    if path.is_dir():
        names = [f"{split}{ending}" for ending in (".parquet", ".jsonl", ".json", ".jsonl.gz", ".json.gz")]
        found = [path / name for name in names if (path / name).is_file()]
        if not found:
            raise FileNotFoundError(f"ToolRL: there is none of {', '.join(names)} in the folder {path}")
        path = found[0]
    return str(path), file_rows(path)
