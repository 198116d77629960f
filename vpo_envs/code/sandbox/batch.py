"""The event loop: many runs on several workers. While one worker's child runs, the results of another are compared."""

from __future__ import annotations

import math
import select
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from vpo_envs.code.sandbox.check_run import CheckRun
from vpo_envs.code.sandbox.child_process import ChildProcess, MalformedFrame
from vpo_envs.code.sandbox.inside.frames import ENDED, STARTED
from vpo_envs.code.sandbox.limits import SandboxError
from vpo_envs.code.sandbox.program_run import ProgramRun
from vpo_envs.code.sandbox.worker import Worker, WorkerDied

Run = ProgramRun | CheckRun
_ATTEMPTS = 3


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
        finally:
            for run in self._active.values():
                run.close()

    def _pause(self) -> float | None:
        """Milliseconds until a deadline has to be checked."""
        first = min((child.check_at for _, child in self._children.values()), default=math.inf)
        return None if first == math.inf else max(0.0, 1000 * (first - time.monotonic()))

    # ---- runs and workers ---------------------------------------------------------------------------------------

    def _begin(self, worker: Worker, run: Run) -> None:
        self._active[worker] = run
        self._guarded(worker, run.begin, partial(self._spawn, worker, run))

    def _spawn(self, worker: Worker, run: Run, job: int, **options: Any) -> ChildProcess:
        child = ChildProcess(worker, job, run.limits, self._release, **options)
        self._children[child.fileno()] = (worker, child)
        self._poll.register(child, select.POLLIN)
        return child

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
            assert reply.pidfd is not None
            worker.children[reply.token].started(reply.value, reply.pidfd)
        elif reply.kind == ENDED:
            child = worker.children.pop(reply.token)
            if not child.closed:
                self._on_frames(worker, child)
            if not child.closed and not self._active[worker].done:
                self._active[worker].on_end(child, reply.value)
                child.close()
        else:
            raise SandboxError(f"the fork server cannot fork (error {reply.value})")

    def _on_frames(self, worker: Worker, child: ChildProcess) -> None:
        """Take and judge what a child has sent."""
        run = self._active[worker]
        is_open = child.read()
        try:
            while not child.closed and not run.done and (frame := child.next_frame()) is not None:
                run.on_frame(child, frame)
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
        if not child.closed and child.check_at <= now and not self._active[worker].done and child.expired(now):
            self._active[worker].on_expired(child)
            child.close()
