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
from vpo_envs.code.sandbox.limits import STDERR_TAIL, Limits, Verdict
from vpo_envs.code.sandbox.worker import Worker, WorkerDied

_ADD_SEALS, _ALL_SEALS = 1033, 0xF  # F_ADD_SEALS; no seals, shrinking, growing or writing any more
_START_SECONDS = 60.0
_WATCH_SECONDS = 0.1  # between two looks at a child that runs for longer, or that waits
MAX_THREADS = 512


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
    try:
        for part in (len(text).to_bytes(4, "little"), text, *inputs):
            view = memoryview(part)
            while view:
                view = view[os.write(descriptor, view) :]
        fcntl.fcntl(descriptor, _ADD_SEALS, _ALL_SEALS)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


class ChildProcess:
    """A child from before its start until it does not matter any more. `close` ends it, however often."""

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
        """Open what it is given; `start` starts it. Raises OSError.

        `job`: see `make_job`, run from test `first` on. `released`: called before it is let go of. `tests`: how many it
        may have to run. `largest`: bytes of the largest input. `asked`: whether `send` will be used.
        """
        self.limits, self._worker, self._released = limits, worker, released
        self.pid: int | None = None
        self.run = 0
        """The number of its run, for the event loop."""
        self.failures = 0
        """How often it could not be started while nothing else could be blamed for that."""
        self.start_at = 0.0
        """When to try again (time.monotonic)."""
        self.out_at = self.err_at = 0
        """Sizes of its standard output and error at the end of the last test."""
        self.lost = False
        """Whether it was killed because it closed its frames."""
        self.seconds, self.wall_seconds = limits.seconds, limits.seconds * limits.wall_factor
        """Processor time that it has since `begin`, and time on the clock."""
        self.check_at = math.inf
        """When `exceeded` has to be asked next (time.monotonic)."""
        self.closed = False
        self._paused = self._ended = False
        self._pidfd: int | None = None
        self._begun = self._cpu = self._cpu_then = self._spent = 0.0
        self._buffer = bytearray()
        self._largest = max(4 * limits.output_bytes, largest)
        seconds = math.ceil(limits.seconds * (tests + 1)) + 5  # if the supervisor should be held up
        self._bounds = (first, seconds, limits.memory_mb << 20, self._largest)
        self._ours: list[int] = []  # descriptors that are closed in the end
        self._theirs: list[int] = []  # and once it has them
        try:
            self._open(job, asked)
        except OSError:
            self._close_descriptors()
            raise

    def _open(self, job: int, asked: bool) -> None:
        for name in ("in", "out", "err"):
            self._ours.append(os.memfd_create(name, os.MFD_CLOEXEC))
        self._stdin, self._out, self._err = self._ours
        for descriptor in (self._out, self._err):
            fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)  # what is printed is never written over
        self._frames, frames = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._ours.append(self._frames)
        self._theirs.append(frames)
        os.set_blocking(frames, True)
        if asked:
            requests, self._requests = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
            self._ours.append(self._requests)
            self._theirs.append(requests)
            os.set_blocking(requests, True)
        self._given = [job, self._stdin, self._out, self._err, *self._theirs]

    def fileno(self) -> int:
        return self._frames

    # ---- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Ask the fork server for it. Raises WorkerDied."""
        self._worker.spawn(self, self._given, *self._bounds)
        self.check_at = time.monotonic() + _START_SECONDS

    def started(self, pid: int, pidfd: int) -> None:
        """The fork server has reported it."""
        self.pid, self._pidfd = pid, pidfd
        if self.closed:
            self._kill()
            return
        self._close_theirs()
        if self.lost:
            self.kill_lost()
        else:
            self.begin(self.seconds, self.wall_seconds)

    def ended(self, seconds: float) -> None:
        """The fork server has reported its end, and the processor time that it took in all."""
        self._ended, self._cpu = True, max(self._cpu, seconds)

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
        self._close_theirs()
        while self._ours:
            os.close(self._ours.pop())

    def _close_theirs(self) -> None:
        while self._theirs:
            os.close(self._theirs.pop())

    def _kill(self) -> None:
        if self._pidfd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            os.close(self._pidfd)
            self._pidfd = None

    # ---- clocks -------------------------------------------------------------------------------------------------

    def begin(self, seconds: float, wall_seconds: float = math.inf) -> None:
        """It has so much processor time from now on, and at most so much time on the clock."""
        self.seconds, self._paused = seconds, False
        self.wall_seconds = min(seconds * self.limits.wall_factor, wall_seconds)
        if self.pid is not None:
            self._begun, self._cpu_then = time.monotonic(), self.cpu()
            self.check_at = self._begun + min(seconds, self.wall_seconds, _WATCH_SECONDS)

    def pause(self) -> None:
        """It waits for the supervisor, and has no time for anything else."""
        self._spent, self._paused, self._cpu_then = self.used(), True, self.cpu()
        self.check_at = time.monotonic() + _WATCH_SECONDS

    def resume(self) -> None:
        """It goes on after a pause, with the time that it had left."""
        self.begin(max(self.seconds - self._spent, 1e-3))

    def used(self) -> float:
        """Processor time since `begin` or `pause`."""
        return max(0.0, self.cpu() - self._cpu_then)

    def passed(self) -> float:
        """Time on the clock since `begin`; none in a pause."""
        return 0.0 if self._paused or self.pid is None else time.monotonic() - self._begun

    def cpu(self) -> float:
        """Processor time since it started, of all its threads, as far as it is known."""
        if self.pid is not None and not self._ended:
            with suppress(OSError):  # it has ended, and is about to be reported
                self._cpu = max(self._cpu, time.clock_gettime((~self.pid << 3) | 2))  # its CPUCLOCK_SCHED
        return self._cpu

    def threads(self) -> int:
        """How many threads it has, 0 if that cannot be seen."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                return int(file.read().rpartition(b")")[2].split()[17])
        except OSError:
            return 0

    def idles(self) -> bool:
        """Whether, in a pause, it takes no time to speak of."""
        return self.used() <= 0.05 + 0.05 * self.limits.seconds

    def exceeded(self, now: float) -> Verdict | None:
        """The verdict, if it has gone beyond its time or number of threads. Raises WorkerDied if it never started."""
        if self.pid is None or self._pidfd is None:
            raise WorkerDied
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        if poll.poll(0):
            self.check_at = math.inf  # it has ended: the report is on its way
            return None
        if self.threads() > MAX_THREADS:
            return Verdict.RUNTIME
        self.check_at = now + _WATCH_SECONDS
        if self._paused:
            return None if self.idles() else Verdict.TIME
        left = min(self.seconds - self.used(), self.wall_seconds - (now - self._begun))
        self.check_at = min(self.check_at, now + max(left, 0.001))
        return Verdict.TIME if left <= 0 else None

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
