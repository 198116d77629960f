"""One child as the supervisor sees it: its descriptors, its clocks, and the frames that it claims."""

from __future__ import annotations

import fcntl
import json
import math
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from vpo_envs.code.sandbox.inside.frames import HEADER, KINDS, REQUEST
from vpo_envs.code.sandbox.limits import STDERR_TAIL, Limits
from vpo_envs.code.sandbox.worker import Worker, WorkerDied

_ADD_SEALS, _ALL_SEALS = 1033, 0xF  # F_ADD_SEALS; no seals, shrinking, growing or writing any more
_START_SECONDS = 60.0


class Frame(NamedTuple):
    """What a child claims (`inside/frames.py`)."""

    kind: int
    test: int
    out: int
    err: int
    payload: bytes


class MalformedFrame(Exception):
    """Bytes that the harness in the child does not send."""


def make_job(mode: str, inputs: Sequence[bytes], limits: Limits, **header: Any) -> int:
    """A sealed memory file with a program and its inputs, never an expected output. Returns its descriptor."""
    header |= {"mode": mode, "lengths": [len(i) for i in inputs], "output_bytes": limits.output_bytes}
    text = json.dumps(header).encode()
    descriptor = os.memfd_create("job", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    for part in (len(text).to_bytes(4, "little"), text, *inputs):
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view) :]
    fcntl.fcntl(descriptor, _ADD_SEALS, _ALL_SEALS)
    return descriptor


class ChildProcess:
    """A child from its start until it does not matter any more. `close` ends it, however often."""

    def __init__(
        self,
        worker: Worker,
        job: int,
        limits: Limits,
        released: Callable[[ChildProcess], None],
        *,
        first: int,
        tests: int,
        largest: int,
        asked: bool,
    ) -> None:
        """Start it. Raises WorkerDied.

        `job`: see `make_job`, run from test `first` on. `released`: called before it is let go of. `tests`: how many it
        may have to run. `largest`: bytes of the largest input. `asked`: whether `send` will be used.
        """
        self.limits, self._released = limits, released
        self.pid: int | None = None
        self.out_at = self.err_at = 0
        """Sizes of its standard output and error at the end of the last test."""
        self.lost = False
        """Whether it was killed because it closed its frames."""
        self.seconds = limits.seconds
        """Processor time that it has since `begin`."""
        self.closed = False
        self._pidfd: int | None = None
        self._buffer = bytearray()
        self._stdin, self._out, self._err = (os.memfd_create(name, os.MFD_CLOEXEC) for name in ("in", "out", "err"))
        for descriptor in (self._out, self._err):
            fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)  # what is printed is never written over
        self._frames, frames = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(frames, True)
        requests, self._requests = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) if asked else (-1, -1)
        given = [job, self._stdin, self._out, self._err, frames]
        if asked:
            os.set_blocking(requests, True)
            given.append(requests)
        self._begun, self._cpu_then, self._spent = time.monotonic(), 0.0, 0.0
        self.check_at = self._begun + _START_SECONDS
        """When `expired` has to be asked next (time.monotonic)."""
        self._largest = max(4 * limits.output_bytes, largest)
        seconds = math.ceil(limits.seconds * (tests + 1)) + 5  # if the supervisor should be held up
        try:
            worker.spawn(self, given, first, seconds, limits.memory_mb << 20, self._largest)
        except WorkerDied:
            self._close_descriptors()
            raise
        finally:
            os.close(frames)
            if asked:
                os.close(requests)

    def fileno(self) -> int:
        return self._frames

    # ---- life ---------------------------------------------------------------------------------------------------

    def started(self, pid: int, pidfd: int) -> None:
        """The fork server has reported it."""
        self.pid, self._pidfd = pid, pidfd
        if self.closed:
            self._kill()
        elif self.lost:
            self.kill_lost()
        elif self.check_at != math.inf:
            self.begin(self.seconds)

    def kill_lost(self) -> None:
        """It closed its frames: if it has not ended by itself, end it. Its fork server will report how it ended."""
        self.lost = True
        self.check_at = math.inf
        if self._pidfd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def close(self) -> None:
        """End it, if it runs, and let go of it."""
        if not self.closed:
            self.closed = True
            self._released(self)
            self._close_descriptors()
            self._kill()

    def _close_descriptors(self) -> None:
        for descriptor in (self._stdin, self._out, self._err, self._frames, self._requests):
            if descriptor >= 0:
                os.close(descriptor)

    def _kill(self) -> None:
        if self._pidfd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            os.close(self._pidfd)
            self._pidfd = None

    # ---- clocks -------------------------------------------------------------------------------------------------

    def begin(self, seconds: float) -> None:
        """It has so much processor time from now on."""
        self.seconds = seconds
        self._begun, self._cpu_then = time.monotonic(), self.cpu()
        self.check_at = self._begun + seconds if self.pid is not None else self._begun + _START_SECONDS

    def pause(self) -> None:
        """It waits for the supervisor."""
        self._spent = self.used()
        self.check_at = math.inf

    def used(self) -> float:
        """Processor time since `begin`."""
        return max(0.0, self.cpu() - self._cpu_then)

    def resume(self) -> None:
        """It goes on after a pause, with the time that it had left."""
        self.begin(max(self.seconds - self._spent, 1e-3))

    def cpu(self) -> float:
        """Processor time since it started, of all its threads."""
        try:
            return 0.0 if self.pid is None else time.clock_gettime((~self.pid << 3) | 2)  # its CPUCLOCK_SCHED
        except OSError:
            return 0.0  # it has ended

    def expired(self, now: float) -> bool:
        """Whether its time is over. Raises WorkerDied if it never started."""
        if self.pid is None or self._pidfd is None:
            raise WorkerDied
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        if poll.poll(0):
            self.check_at = math.inf  # it has ended: the report is on its way
            return False
        used, passed = self.cpu() - self._cpu_then, now - self._begun
        left = min(self.seconds - used, self.seconds * self.limits.wall_factor - passed)
        self.check_at = now + max(left, 0.001)
        return left <= 0

    # ---- what it says -------------------------------------------------------------------------------------------

    def read(self) -> bool:
        """Take what it has written. False at the end."""
        while True:
            try:
                data = os.read(self._frames, 1 << 20)
            except BlockingIOError:
                return True
            self._buffer += data
            if len(data) < 1 << 12:
                return bool(data)
            if len(self._buffer) > 2 * self.limits.output_bytes:
                return True

    def next_frame(self) -> Frame | None:
        """The next complete frame, if there is one. Raises MalformedFrame."""
        if len(self._buffer) < HEADER.size:
            return None
        kind, test, out, err, size = HEADER.unpack_from(self._buffer)
        if kind not in KINDS or size > self.limits.output_bytes:
            raise MalformedFrame
        if len(self._buffer) < HEADER.size + size:
            return None
        payload = bytes(self._buffer[HEADER.size : HEADER.size + size])
        del self._buffer[: HEADER.size + size]
        return Frame(kind, test, out, err, payload)

    def check_sizes(self, frame: Frame) -> None:
        """Raise MalformedFrame unless it may have printed as much as the frame claims."""
        if not (self.out_at <= frame.out <= self._largest and self.err_at <= frame.err <= self._largest):
            raise MalformedFrame

    def out_size(self) -> int:
        return os.fstat(self._out).st_size

    def err_size(self) -> int:
        return os.fstat(self._err).st_size

    def printed(self, upto: int) -> str:
        """What it printed in this test, as text; bytes that are no UTF-8 become surrogates."""
        parts, at = [], self.out_at
        while at < upto and (part := os.pread(self._out, upto - at, at)):
            parts.append(part)
            at += len(part)
        return b"".join(parts).decode("utf-8", "surrogateescape")

    def stderr_tail(self, upto: int) -> str:
        """The end of what it wrote to standard error in this test."""
        if upto <= self.err_at:
            return ""
        begin = max(self.err_at, upto - 4 * STDERR_TAIL)
        return os.pread(self._err, max(0, upto - begin), begin).decode("utf-8", "replace")[-STDERR_TAIL:]

    def settle(self, out: int, err: int) -> None:
        """A test has ended here."""
        self.out_at, self.err_at = out, err

    # ---- what it is told ----------------------------------------------------------------------------------------

    def send(self, is_exception: bool, payload: bytes) -> None:
        """Give it a request or an answer: the bytes through its standard input, which never blocks."""
        view, at = memoryview(payload), 0
        while view[at:]:
            at += os.pwrite(self._stdin, view[at:], at)
        # Broken: it has ended, and the report is on its way. Full: it asks without reading the answers.
        with suppress(BrokenPipeError, BlockingIOError):
            os.write(self._requests, REQUEST.pack(is_exception, len(payload)))
