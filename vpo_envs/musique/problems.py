"""MuSiQue problems: what one is, the official row format, and where loaded ones come from."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from vpo_envs.data_files import Record, file_rows, hub_rows, load_problems
from vpo_envs.task import Split

MAX_HOPS = 4
HUB = "dgslibisey/MuSiQue"
HUB_SPLITS: dict[Split, str] = {"train": "train", "test": "validation"}
FILES: dict[Split, str] = {"train": "musique_ans_v1.0_train.jsonl", "test": "musique_ans_v1.0_dev.jsonl"}
ROW = (
    '{"question": ..., "answer": ..., "answer_aliases": [...], "paragraphs": [{"idx": 0, "title": ..., '
    '"paragraph_text": ..., "is_supporting": true}, ...], "question_decomposition": [{"question": ..., "answer": ..., '
    '"paragraph_support_idx": 0}, ...]}'
)


_TAG = re.compile(r"<\s*/?\s*(answer|support|think|response)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Hop:
    """One reasoning step; `#1` in its question stands for the answer of hop 1."""

    question: str
    answer: str
    paragraph: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A question over numbered paragraphs. Paragraph i has title `titles[i]` and text `texts[i]`."""

    question: str
    titles: tuple[str, ...]
    texts: tuple[str, ...]
    hops: tuple[Hop, ...]
    answers: tuple[str, ...]
    """The answer, and then its aliases."""


def problem_of(row: Any) -> Problem:
    """The problem in an official row. Fields that are not needed (`id` ...) are not looked at.

    Raises:
        ValueError: the row is bad; the message names the field.
    """
    record = Record(row)
    question = record.text("question")
    answer = record.text("answer")
    if _TAG.search(answer):
        raise record.error("answer", "has a tag of the answer format in it, so that nobody could give it")
    if record.has("answerable") and not record.flag("answerable"):
        raise record.error("answerable", "is false: an unanswerable question has no reward")
    paragraphs = record.records("paragraphs")
    if not paragraphs:
        raise record.error("paragraphs", "is empty")
    by_number: dict[int, Record] = {}
    for paragraph in paragraphs:
        number = paragraph.whole("idx")
        if not 0 <= number < len(paragraphs):
            raise paragraph.error("idx", f"must be from 0 to {len(paragraphs) - 1}, got {number}")
        if number in by_number:
            raise paragraph.error("idx", f"is {number}, like that of another paragraph")
        by_number[number] = paragraph
    in_order = [by_number[number] for number in range(len(paragraphs))]
    titles = tuple(paragraph.text("title", empty=True) for paragraph in in_order)
    texts = tuple(paragraph.text("paragraph_text", empty=True) for paragraph in in_order)
    # By text: where a paragraph is there twice, the official files may name the copy that is not marked.
    supporting = {text for text, paragraph in zip(texts, in_order, strict=True) if paragraph.flag("is_supporting")}
    steps = record.records("question_decomposition")
    if not 2 <= len(steps) <= MAX_HOPS:
        raise record.error("question_decomposition", f"must have 2 to {MAX_HOPS} steps, has {len(steps)}")
    hops = []
    for step in steps:
        support = step.whole("paragraph_support_idx")
        if not 0 <= support < len(texts):
            raise step.error("paragraph_support_idx", f"must be from 0 to {len(texts) - 1}, got {support}")
        if texts[support] not in supporting:
            raise step.error("paragraph_support_idx", f"is {support}, and that paragraph's is_supporting is false")
        hops.append(Hop(step.text("question", empty=True), step.text("answer", empty=True), support))
    aliases = [alias for alias in record.texts("answer_aliases", empty=True) if alias.strip()]
    return Problem(question, titles, texts, tuple(hops), tuple(dict.fromkeys([answer, *aliases])))


def row_of(problem: Problem) -> dict[str, Any]:
    """The problem as an official row: the inverse of `problem_of`."""
    support = {hop.paragraph for hop in problem.hops}
    return {
        "paragraphs": [
            {"idx": i, "title": title, "paragraph_text": text, "is_supporting": i in support}
            for i, (title, text) in enumerate(zip(problem.titles, problem.texts, strict=True))
        ],
        "question": problem.question,
        "question_decomposition": [
            {"question": hop.question, "answer": hop.answer, "paragraph_support_idx": hop.paragraph}
            for hop in problem.hops
        ],
        "answer": problem.answers[0],
        "answer_aliases": list(problem.answers[1:]),
        "answerable": True,
    }


def loaded_problems(data: str, split: Split, skip_bad_rows: bool = False) -> list[Problem]:
    """All problems of a file, of the split's file in a folder, or of the split on the hub (`data="hub"`).

    Raises:
        ValueError: bad rows, or nothing that can be read; the message names the file, the rows and their fields.
        FileNotFoundError: no such file.
    """
    if data == "hub":
        rows = hub_rows(HUB, HUB_SPLITS[split])
        return load_problems(f"{HUB} ({HUB_SPLITS[split]})", rows, problem_of, skip_bad_rows, ROW)
    path = Path(data)
    if path.is_dir():
        path /= FILES[split]
    return load_problems(path, file_rows(path), problem_of, skip_bad_rows, ROW)


def stratified(problems: list[Problem], size: int) -> list[Problem]:
    """`size` of the problems in their order, as evenly from each number of hops as there are; all, if there are fewer.

    They are drawn with a fixed seed: the same file and size always give the same sample.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for i, problem in enumerate(problems):
        groups[len(problem.hops)].append(i)
    chosen: list[int] = []
    rng = Random("MuSiQue sample")
    smallest_first = sorted(groups.values(), key=len)
    for place, group in enumerate(smallest_first):
        share = (size - len(chosen)) // (len(groups) - place)
        chosen += rng.sample(group, min(share, len(group)))
    return [problems[i] for i in sorted(chosen)]
