"""The event loop: many runs on several workers. While one worker's child runs, the results of another are compared."""

from __future__ import annotations

import errno
import math
import os
import select
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any

from vpo_envs.code.sandbox.check_run import CheckRun
from vpo_envs.code.sandbox.child_process import ChildProcess, MalformedFrame
from vpo_envs.code.sandbox.inside.frames import ENDED, STARTED
from vpo_envs.code.sandbox.limits import Limits, SandboxError, Verdict
from vpo_envs.code.sandbox.program_run import ProgramRun
from vpo_envs.code.sandbox.worker import Worker, WorkerDied

Run = ProgramRun | CheckRun
_ATTEMPTS = 3
_run_numbers = count()  # over all batches: children of the last one may not have ended yet
_FORKS, _FORK_PAUSE = 6, 0.05  # attempts; seconds after the first, twice that after the second, and so on


class Batch:
    """Runs, from their start to their last verdict."""

    def __init__(self, workers: Sequence[Worker], runs: Sequence[Run], start: Callable[[Worker], None]) -> None:
        """`workers` are ready; `start` starts one again."""
        self._waiting = deque(run for run in runs if not run.done)
        self._start = start
        self._idle = list(workers)
        self._active: dict[Worker, Run] = {}
        self._attempts: Counter[Run] = Counter()
        self._workers = {worker.fileno(): worker for worker in workers}
        self._children: dict[int, tuple[Worker, ChildProcess]] = {}  # by the descriptor of their frames
        self._pending: list[tuple[Worker, ChildProcess]] = []  # children that are not started yet
        self._poll = select.poll()
        for worker in workers:
            self._poll.register(worker, select.POLLIN)

    def finish(self) -> None:
        """Run everything. Raises SandboxError; after any exception the workers must be closed."""
        try:
            while self._waiting or self._active:
                while self._waiting and self._idle:
                    self._begin(self._idle.pop(), self._waiting.popleft())
                for descriptor, _ in self._poll.poll(self._pause()):
                    self._on_event(descriptor)
                self._check_deadlines()
                if self._pending:
                    self._start_pending()
        finally:
            for run in self._active.values():
                run.close()

    def _pause(self) -> float | None:
        """Milliseconds until a deadline has to be checked."""
        checks = [child.check_at for _, child in self._children.values()]
        starts = [child.start_at for worker, child in self._pending if not _follows(worker, child)]
        first = min(checks + starts, default=math.inf)
        return None if first == math.inf else max(0.0, 1000 * (first - time.monotonic()))

    # ---- runs and workers ---------------------------------------------------------------------------------------

    def _begin(self, worker: Worker, run: Run) -> None:
        self._active[worker] = run
        self._guarded(worker, run.begin, partial(self._spawn, worker, next(_run_numbers), run.limits))

    def _spawn(self, worker: Worker, run: int, limits: Limits, job: int, **options: Any) -> ChildProcess:
        child = ChildProcess(worker, job, limits, self._release, **options)
        child.run = run
        self._children[child.fileno()] = (worker, child)
        self._poll.register(child, select.POLLIN)
        if _follows(worker, child):
            self._pending.append((worker, child))
            return child
        try:
            child.start()
        except WorkerDied:
            child.close()  # the run does not know it yet
            raise
        return child

    def _start_pending(self) -> None:
        pending, self._pending, now = self._pending, [], time.monotonic()
        for worker, child in pending:
            if child.closed:
                continue
            if child.start_at > now or _follows(worker, child):
                self._pending.append((worker, child))
            else:
                self._guarded(worker, child.start)

    def _release(self, child: ChildProcess) -> None:
        if self._children.pop(child.fileno(), None) is not None:
            self._poll.unregister(child)

    def _guarded(self, worker: Worker, act: Callable[..., None], *arguments: Any) -> None:
        """Act on the run of a worker, then see whether it is done and whether the worker still lives."""
        try:
            act(*arguments)
        except MalformedFrame:
            raise
        except WorkerDied:
            self._restart(worker)
            return
        run = self._active.get(worker)
        if run is not None and run.done:
            run.close()
            del self._active[worker]
            self._idle.append(worker)

    def _restart(self, worker: Worker) -> None:
        """The fork server is gone: start another one, and its run again."""
        run = self._active.pop(worker, None)
        if run is not None:
            run.close()
            self._attempts[run] += 1
            if self._attempts[run] > _ATTEMPTS:
                raise SandboxError(f"the fork server died {self._attempts[run]} times while it ran one program")
        self._workers.pop(worker.fileno())
        self._poll.unregister(worker)
        self._start(worker)
        self._workers[worker.fileno()] = worker
        self._poll.register(worker, select.POLLIN)
        if run is not None:
            self._begin(worker, run)
        elif worker not in self._idle:
            self._idle.append(worker)

    # ---- events -------------------------------------------------------------------------------------------------

    def _on_event(self, descriptor: int) -> None:
        if descriptor in self._workers:
            worker = self._workers[descriptor]
            self._guarded(worker, self._on_report, worker)
        elif descriptor in self._children:  # else it was let go of by an event just before
            worker, child = self._children[descriptor]
            self._guarded(worker, self._on_frames, worker, child)

    def _on_report(self, worker: Worker) -> None:
        reply = worker.receive()
        if reply.kind == STARTED:
            if reply.pidfd is None:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            worker.children[reply.token].started(reply.value, reply.pidfd)
        elif reply.kind == ENDED:
            child = worker.children.pop(reply.token)
            child.ended(reply.seconds)
            if not child.closed:
                self._on_frames(worker, child)
            if not child.closed and not self._active[worker].done:
                self._active[worker].on_end(child, reply.value)
                child.close()
        elif not (child := worker.children.pop(reply.token)).closed:
            self._on_failed(worker, child, reply.value)

    def _on_failed(self, worker: Worker, child: ChildProcess, error: int) -> None:
        """There are too many processes or threads, possibly those of programs: try again when some have ended."""
        run = self._active[worker]
        is_own = isinstance(run, CheckRun) and any(not other.closed for other in worker.children.values())
        if is_own or not any(other.children for other in self._workers.values()):
            child.failures += 1
        if error in (errno.EAGAIN, errno.ENOMEM) and child.failures < _FORKS:
            child.check_at, child.start_at = math.inf, time.monotonic() + _FORK_PAUSE * 2**child.failures
            self._pending.append((worker, child))
        elif isinstance(run, CheckRun) and is_own:
            run.on_starved()
        else:
            raise SandboxError(f"the fork server cannot fork, and no program is to blame: {os.strerror(error)}")

    def _on_frames(self, worker: Worker, child: ChildProcess) -> None:
        """Take and judge what a child has sent."""
        run = self._active[worker]
        is_open = child.read()
        try:
            while not child.closed and not run.done and (frame := child.next_frame()) is not None:
                run.on_frame(child, frame)
            if not child.closed and not run.done:
                run.on_read(child)
        except MalformedFrame:
            run.on_malformed(child)
            child.close()
        if not is_open and not child.closed and not child.lost:
            self._children.pop(child.fileno())
            self._poll.unregister(child)
            child.kill_lost()

    def _check_deadlines(self) -> None:
        now = time.monotonic()
        for worker, child in list(self._children.values()):
            if not child.closed and child.check_at <= now:
                self._guarded(worker, self._on_deadline, worker, child, now)

    def _on_deadline(self, worker: Worker, child: ChildProcess, now: float) -> None:
        self._on_frames(worker, child)  # it may have been in time
        run = self._active[worker]
        if child.closed or child.check_at > now or run.done or (verdict := child.exceeded(now)) is None:
            return
        if verdict is Verdict.TIME:
            run.on_expired(child)
        else:
            run.on_malformed(child)
        child.close()


def _follows(worker: Worker, child: ChildProcess) -> bool:
    """Whether a child has to wait for the end of another one of its run, which may hold all that is needed."""
    return any(other.closed and other.run == child.run for other in worker.children.values())
