"""Ctrl-C and SIGTERM that let the step finish, so that what is saved is the state between two steps."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Any

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 0}
"""Ctrl-C ends with the shell's code for it; a preempted node's SIGTERM is an orderly end."""


class StopRequest:
    """While active, the first SIGINT or SIGTERM is remembered in `requested`.

    A second SIGINT interrupts at once (nothing is saved then). Schedulers repeat SIGTERM, so a second one changes
    nothing.
    """

    def __init__(self) -> None:
        self.requested: signal.Signals | None = None
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopRequest:
        self._previous = {number: signal.signal(number, self._handle) for number in EXIT_CODES}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested is not None:
            if number == signal.SIGINT:
                raise KeyboardInterrupt
            return
        self.requested = signal.Signals(number)
        hint = " (Ctrl-C again to stop at once, without a checkpoint)" if number == signal.SIGINT else ""
        # Not print: the signal may have arrived inside a write to the same buffered stream, which is not reentrant.
        os.write(2, f"\n{self.requested.name}: stopping after this step{hint}\n".encode())
