"""Faults that end a run: one clear message, and a checkpoint to go on from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError


class Fault(RuntimeError):
    """The machine failed, not the user: the message says what happened and how to go on. Command lines exit with 1."""


@contextmanager
def writing(what: str, folder: Path) -> Iterator[None]:
    """Turn every way in which a write into a run's folder fails into one Fault.

    safetensors and torch wrap the operating system's error in classes of their own, so those are caught as well.
    """
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        free = shutil.disk_usage(folder).free / 1e6
        first = (str(error) or repr(error)).splitlines()[0]
        raise Fault(
            f"{what} could not be written ({first}; {free:,.0f} MB free in {folder}). "
            f"Make room (or raise the limit that says so), then go on with --resume {folder} if it has a checkpoint"
        ) from error
