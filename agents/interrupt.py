"""Ctrl-C that lets the step finish, so that what is saved is the state between two steps."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Any


class StopRequest:
    """While active, the first SIGINT sets `requested`; a second one interrupts at once (nothing is saved then)."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: Any = None

    def __enter__(self) -> StopRequest:
        self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._previous)

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        print("\nstopping after this step (Ctrl-C again to stop at once, without a checkpoint)", file=sys.stderr)
