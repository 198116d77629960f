"""Chains from the published data set: its rows, its files, its place on the hub, and the paper's split of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from vpo_envs.data_files import NumberedRow, Record, file_rows, hub_rows, load_problems
from vpo_envs.eureqa.chain import MAX_NAME, SIZE, Chain, normal_form, stands_in
from vpo_envs.task import Split

HUB = "vincentleebang/EUREQA"
HARD, NORMAL = "hard_5", "normal_5"
ROW = '{"idx": 0, "question": ["sentence", ...], "entity_masks": [6 texts], "entities": [6 names]}'
SUFFIXES = (".json", ".jsonl", ".parquet", ".json.gz", ".jsonl.gz")


def load_chains(data: str, split: Split, skip_bad_rows: bool = False) -> list[Chain]:
    """The chains of a file (all of them, for either split), or a split of a folder or of the hub (`paper_split`).

    Raises:
        FileNotFoundError: no such file or folder, or a folder without one of the two files.
        ImportError: a package that reads the format is not installed.
        ValueError: bad rows (one error names file, rows and fields), or nothing that can be read.
    """

    def load(where: str | Path, rows: Iterable[NumberedRow]) -> list[Chain]:
        return load_problems(where, rows, parse_row, skip_bad_rows, ROW)

    if data == "hub":
        sources = {name: (f"{HUB} ({name})", hub_rows(HUB, f"questions_{name}")) for name in (HARD, NORMAL)}
    elif (path := Path(data)).is_dir():
        found = {name: _file_in(path, name) for name in (HARD, NORMAL)}
        sources = {name: (str(file), file_rows(file)) for name, file in found.items()}
    else:
        return load(path, file_rows(path))
    hard = load(*sources[HARD])
    return paper_split(hard, load(*sources[NORMAL]) if split == "train" else [], split)


def _file_in(folder: Path, name: str) -> Path:
    files = sorted(f for f in folder.iterdir() if name in f.name and f.name.endswith(SUFFIXES))
    if len(files) != 1:
        found = ", ".join(f.name for f in files) or "none"
        raise FileNotFoundError(
            f"{folder}: needs one file whose name contains {name!r} and ends with {', '.join(SUFFIXES)}; found {found}"
        )
    return files[0]


def paper_split(hard: list[Chain], normal: list[Chain], split: Split) -> list[Chain]:
    """The split of arXiv 2605.22817: hard_5 shuffled with seed 0; normal_5 and the first half of it are for training.

    The paper does not say which function shuffles. `random.Random(0).shuffle` is our reading, so a test set of other
    code need not hold the same chains. Of an odd number the second half has one more.
    """
    shuffled = list(hard)
    Random(0).shuffle(shuffled)
    half = len(shuffled) // 2
    return [*normal, *shuffled[:half]] if split == "train" else shuffled[half:]


def parse_row(row: Any) -> Chain:
    """One row of the data set. Raises ValueError that names the field.

    Masks may have any form; the first five stand for entity_A ... entity_E. `idx` is not looked at.
    """
    record = Record(row)
    sentences, masks, entities = (record.texts(field) for field in ("question", "entity_masks", "entities"))
    if not sentences:
        raise record.error("question", "is empty")
    if len(masks) != SIZE:
        raise record.error("entity_masks", f"must have {SIZE} entries, got {len(masks)}")
    if len(entities) != SIZE:
        raise record.error("entities", f"must have {SIZE} entries, as entity_masks has, got {len(entities)}")
    forms: list[str] = []
    for i, (mask, name) in enumerate(zip(masks, entities, strict=True)):
        if masks.index(mask) < i:
            raise record.error(f"entity_masks[{i}]", f"repeats entity_masks[{masks.index(mask)}]")
        if i < SIZE - 1 and not stands_in(mask, sentences):
            raise record.error(f"entity_masks[{i}]", "never occurs in 'question'")
        if len(name) > MAX_NAME:
            raise record.error(f"entities[{i}]", f"is longer than {MAX_NAME} characters")
        if "<" in name or ">" in name:
            raise record.error(f"entities[{i}]", "has an angle bracket, with which no answer could be read")
        form = normal_form(name)
        if not form:
            raise record.error(f"entities[{i}]", "has no word that counts (only punctuation or articles)")
        if form in forms:
            raise record.error(f"entities[{i}]", f"is the same name as entities[{forms.index(form)}]")
        forms.append(form)
    return Chain(tuple(sentences), tuple(masks), tuple(entities))


def official_row(chain: Chain, idx: int = 0) -> dict[str, Any]:
    """The row of the data set that `parse_row` turns into this chain."""
    return {
        "idx": idx,
        "question": list(chain.sentences),
        "entity_masks": list(chain.masks),
        "entities": list(chain.entities),
    }
