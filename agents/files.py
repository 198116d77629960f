"""Text files that appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

from agents.faults import writing


def write_whole(path: Path, text: str) -> None:
    """Write a text file that appears by a rename, so that a process that is killed leaves no half of it.

    Raises:
        Fault: it could not be written.
    """
    with writing(path.name, path.parent):
        partial = path.with_name(f"{path.name}.part")
        partial.write_text(text)
        partial.replace(path)
