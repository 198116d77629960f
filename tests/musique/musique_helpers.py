"""What the MuSiQue tests share."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from vpo_envs.musique import Problem
from vpo_envs.musique.relations import RELATIONS

Fact = tuple[str, tuple[str, ...], str]  # label of the relation, subjects, object


def row(**changes: Any) -> dict[str, Any]:
    """An official row: who wrote Tin Moon (paragraph 2)? where was she born (paragraph 0)? Field `x=...` changed."""
    return {
        "id": "2hop__1_2",
        "paragraphs": [
            paragraph(0, "Ada Roe", "Ada Roe was born in Low Town.", True),
            paragraph(1, "Bo Roe", "Bo Roe was born in High Town."),
            paragraph(2, "Tin Moon", "Tin Moon is a play by Ada Roe.", True),
        ],
        "question": "Where was the author of Tin Moon born?",
        "question_decomposition": [
            {"id": 1, "question": "Who wrote Tin Moon?", "answer": "Ada Roe", "paragraph_support_idx": 2},
            {"id": 2, "question": "Where was #1 born?", "answer": "Low Town", "paragraph_support_idx": 0},
        ],
        "answer": "Low Town",
        "answer_aliases": ["Lowton"],
        "answerable": True,
    } | changes


def paragraph(idx: Any, title: Any = "T", text: Any = "Text.", supporting: Any = False) -> dict[str, Any]:
    return {"idx": idx, "title": title, "paragraph_text": text, "is_supporting": supporting}


def steps(*support: Any) -> list[dict[str, Any]]:
    """A decomposition whose steps have these supporting paragraphs."""
    return [{"question": "q", "answer": "a", "paragraph_support_idx": i} for i in support]


def write_rows(path: Path, *rows: Any) -> str:
    """A JSON-lines file of rows; strings go in as they are."""
    lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


NAME = r"#\d|[A-Z][a-z]+(?: [A-Z][a-z]+)?"
NAMES = {"{a}": rf"(?P<a>{NAME})", "{b}": rf"(?P<b>{NAME})", "{o}": rf"(?P<o>{NAME})"}


def pattern(template: str) -> re.Pattern[str]:
    """A template as a regular expression: the slow way to read, which does not know the names."""
    return re.compile("".join(NAMES.get(part, re.escape(part)) for part in re.split(r"(\{\w\})", template)))


STATED = [(r.label, pattern(statement)) for r in RELATIONS for statement in r.statements]
ASKED = [(r.label, pattern(r.question)) for r in RELATIONS]


def said(sentence: str, patterns: list[tuple[str, re.Pattern[str]]]) -> Fact:
    """The one fact that a sentence states or asks for. It must be possible to read it in one way, and only one."""
    found = [(label, match.groupdict()) for label, p in patterns if (match := p.fullmatch(sentence))]
    assert len(found) == 1, (sentence, found)
    label, names = found[0]
    return label, tuple(names[slot] for slot in "ab" if slot in names), names.get("o", "")


def facts_of(problem: Problem) -> list[tuple[int, Fact]]:
    """Every fact that the documents state, with its paragraph."""
    return [
        (i, said(sentence, STATED))
        for i, text in enumerate(problem.texts)
        for sentence in re.findall(r"\S[^.]*\.", text)
    ]


def asked_in(question: str) -> Fact:
    """What a hop asks for."""
    return said(question, ASKED)
