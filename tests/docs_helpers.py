"""Reading the documentation pages: the programs and commands on them."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^python (agents/\w+\.py.*)$", re.MULTILINE)


def programs(page: str) -> list[tuple[str, str, str | None]]:
    """(file name, program, stated output) of every Python block that starts with its file name, in order."""
    blocks = BLOCK.findall((DOCS / page).read_text())
    found: list[tuple[str, str, str | None]] = []
    for i, (kind, text) in enumerate(blocks):
        if kind == "python" and (name := re.match(r"# (\w+\.py)\n", text)):
            stated = blocks[i + 1][1] if i + 1 < len(blocks) and blocks[i + 1][0] == "text" else None
            found.append((name[1], text, stated))
    return found


def program(page: str, file_name: str) -> str:
    """The program with this file name."""
    return next(text for name, text, _ in programs(page) if name == file_name)
