"""What the EUREQA tests share: a row in the data set's form about other facts, and answers written out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LETTERS = "ABCDE"

ROW: dict[str, Any] = {
    "idx": 7,
    "question": [
        "Person 1 wrote novel 2.",
        "novel 2 is set on island 3, which has three volcanoes.",
        "island 3 was sighted by sailor 4 in 1606.",
        "sailor 4 commanded ship 5.",
        "ship 5 was built in the yard that the Oak Company owned.",
    ],
    "entity_masks": ["Person 1", "novel 2", "island 3", "sailor 4", "ship 5", "company 6"],
    "entities": ["Ann_Archer", "The Long Tide", "Mist Island", "Jan O'Dell", "Ördög (1599)", "Oak_Company"],
}
GOLD = ROW["entities"][:5]


def row(**changed: Any) -> dict[str, Any]:
    """The row with some fields changed; a field that is set to `...` is left out."""
    return {name: value for name, value in {**ROW, **changed}.items() if value is not ...}


def answer_of(*names: str, letters: str = LETTERS) -> str:
    """One element for each name, entity_A first."""
    return "".join(f"<entity_{x}>{name}</entity_{x}>" for x, name in zip(letters, names, strict=True))


def write(path: Path, *rows: object) -> str:
    """A file of JSON lines; text stands as it is."""
    lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)
