"""The sandbox: runs untrusted Python programs on tests. Expected outputs never leave this process."""

from __future__ import annotations

import os
import sys
import threading
import warnings
import weakref
from collections.abc import Collection, Sequence
from types import TracebackType
from typing import Any

from vpo_envs.code.sandbox.batch import Batch
from vpo_envs.code.sandbox.check_run import CheckRun
from vpo_envs.code.sandbox.inside.syscalls import ARCHITECTURES, machine
from vpo_envs.code.sandbox.limits import Check, Job, Limits, SandboxError, TestResult, Tests
from vpo_envs.code.sandbox.program_run import ProgramRun
from vpo_envs.code.sandbox.report import Report
from vpo_envs.code.sandbox.worker import Worker


class Sandbox:
    """Runs programs that may be hostile, on Linux (x86-64 and aarch64).

    Workers start when they are first needed and go on until `close`, the end of a `with` block, or of this process. One
    thread at a time runs a batch, others wait. After a fork, the forked process starts workers of its own.

        with Sandbox() as sandbox:
            results = sandbox.run("print(int(input()) + 1)", [StdinTest("1", "2")])
            results[0].verdict                        # Verdict.PASS
    """

    def __init__(
        self,
        workers: int | None = None,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        unsafe: bool = False,
        *,
        _without: Collection[str] = (),
    ) -> None:
        """`workers`: how many programs run at a time (default: the processors that this process may use).

        `unsafe`: run even where the sandbox cannot protect the machine. `_without`: layers to do without, for tests.
        """
        if workers is not None and workers < 1:
            raise ValueError(f"Sandbox: workers must be at least 1, not {workers}")
        self.limits, self.unsafe = limits, unsafe
        self.num_workers = workers or (len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1)
        self._without = tuple(_without)
        self._set_up()

    def _set_up(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._workers: list[Worker] = []
        self._report: Report | None = None
        self._finalizer = weakref.finalize(self, _close, self._workers, self._pid)

    def run(
        self,
        program: str,
        tests: Sequence[Any] | Check,
        limits: Limits | None = None,
        *,
        entry_point: str | None = None,
        tolerance: float | None = None,
    ) -> list[TestResult]:
        """The results of one program on its tests: StdinTests, CallTests or a Check. See `Job` for the arguments.

        Raises:
            SandboxError: the grader is at fault, or cannot protect this machine.
        """
        given: Tests = tests if isinstance(tests, Check) else tuple(tests)
        return self.run_batch([Job(program, given, entry_point, tolerance)], limits)[0]

    def run_batch(self, jobs: Sequence[Job], limits: Limits | None = None) -> list[list[TestResult]]:
        """The results of every job, in order. Raises SandboxError."""
        limits = limits or self.limits
        runs = [(CheckRun if isinstance(job.tests, Check) else ProgramRun)(job, limits) for job in jobs]
        self._notice_fork()
        with self._lock:
            try:
                Batch(self._ready(min(len(runs), self.num_workers)), runs, self._start).finish()
            except BaseException:
                self._close()
                raise
        return [run.results for run in runs]

    def report(self) -> Report:
        """Which layers are active. Starts a worker, if there is none, to find out. Raises SandboxError."""
        self._notice_fork()
        with self._lock:
            self._ready(1)
            assert self._report is not None
            return self._report

    def close(self) -> None:
        """End all workers. The sandbox can be used again; then it starts new ones."""
        self._notice_fork()
        with self._lock:
            self._close()

    def _close(self) -> None:
        for worker in self._workers:
            worker.close()
        self._workers.clear()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.num_workers, self.limits, self.unsafe, self._without)

    # ---- workers ------------------------------------------------------------------------------------------------

    def _notice_fork(self) -> None:
        if os.getpid() != self._pid:
            self._finalizer.detach()
            for worker in self._workers:
                worker.forget()
            self._set_up()

    def _ready(self, count: int) -> list[Worker]:
        """`count` workers that run. They start side by side."""
        _refuse_other_systems()
        while len(self._workers) < count:
            self._workers.append(Worker(self._without))
        workers = self._workers[:count]
        dead = [worker for worker in workers if not worker.alive]
        for worker in dead:
            worker.start()
        for worker in dead:
            self._wait(worker)
        return workers

    def _start(self, worker: Worker) -> None:
        worker.start()
        self._wait(worker)

    def _wait(self, worker: Worker) -> None:
        """Wait for a worker that was started, and refuse it if it does not protect the machine."""
        worker.wait()
        report = Report.of(worker.layers, self.num_workers)
        if report.faults and not self.unsafe:
            raise SandboxError(
                f"the sandbox cannot protect this machine: {'; '.join(report.faults)}. Use another machine or a "
                "container that allows seccomp, or Sandbox(unsafe=True) where every program is trusted."
            )
        if self._report is None:
            for missing in (*report.faults, *report.warnings):
                warnings.warn(f"sandbox: {missing}", RuntimeWarning, stacklevel=5)
        self._report = report


def _rebuilt(workers: int, limits: Limits, unsafe: bool, without: tuple[str, ...]) -> Sandbox:
    return Sandbox(workers, limits, unsafe, _without=without)


def _close(workers: list[Worker], pid: int) -> None:
    for worker in workers:
        if os.getpid() == pid:
            worker.close()
        else:
            worker.forget()


def _refuse_other_systems() -> None:
    if sys.platform != "linux" or machine() not in ARCHITECTURES or sys.implementation.name != "cpython":
        raise SandboxError(
            f"the sandbox runs on Linux (x86-64 or aarch64) with CPython, not on {sys.platform} {machine()} "
            f"{sys.implementation.name}. On other systems use a Linux virtual machine or container."
        )
