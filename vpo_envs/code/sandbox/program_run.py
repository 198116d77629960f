"""A program on its tests: what each frame of its children, and their ends, say about the verdicts."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from vpo_envs.code.sandbox.child_process import ChildProcess, Frame, MalformedFrame, make_job
from vpo_envs.code.sandbox.compare import Malformed, may_be_equal, parse_result, same_output, same_result
from vpo_envs.code.sandbox.inside import frames
from vpo_envs.code.sandbox.inside.values import encode
from vpo_envs.code.sandbox.limits import Check, Job, Limits, StdinTest, TestResult, Verdict

Spawn = Callable[..., ChildProcess]
"""spawn(job descriptor, first=, tests=, largest=, asked=): a new child of the run."""

SETUP = {
    frames.COMPILE_ERROR: Verdict.COMPILE,
    frames.SETUP_ERROR: Verdict.RUNTIME,
    frames.SETUP_MEMORY: Verdict.MEMORY,
}
FAULTS = {frames.ERROR: Verdict.RUNTIME, frames.MEMORY: Verdict.MEMORY, frames.TOO_LARGE: Verdict.OUTPUT}
_LARGE = 1 << 16  # bytes, above which a result is looked at before it takes memory


def not_begun(job: int, **options: Any) -> ChildProcess:
    """In place of a spawn, in a run that has not begun or is closed."""
    raise AssertionError


class ProgramRun:
    """Standard-input or call tests of one program. One child runs all tests, unless it dies or is used up.

    A test that runs out of memory after others in its child is run again in a new one: it may be their garbage.
    """

    def __init__(self, job: Job, limits: Limits) -> None:
        assert not isinstance(job.tests, Check)
        self.job, self.limits, self.tests = job, limits, job.tests
        self.results: list[TestResult] = []
        self._timeouts = 0
        self._printing = self._defined = False
        self._timed = 0
        self._job = -1
        self._spawn: Spawn = not_begun
        self._child: ChildProcess | None = None

    @property
    def done(self) -> bool:
        return len(self.results) == len(self.tests)

    # ---- life: the event loop calls these -----------------------------------------------------------------------

    def begin(self, spawn: Spawn) -> None:
        """Start, or start again after a worker died."""
        self.close()
        self.results, self._timeouts, self._spawn = [], 0, spawn
        self._printing = bool(self.tests) and isinstance(self.tests[0], StdinTest)
        inputs = [
            (t.input.encode("utf-8", "surrogatepass") if isinstance(t, StdinTest) else encode(t.arguments).encode())
            for t in self.tests
        ]
        self._largest = max(map(len, inputs), default=0)
        mode = frames.STDIN if self._printing else frames.CALLS
        job = self.job
        self._job = make_job(mode, inputs, self.limits, program=job.program, entry_point=job.entry_point)
        self._next_child()

    def close(self) -> None:
        """End the child and free the job."""
        self._spawn = not_begun  # it holds the run, which would else be garbage that waits for its collector
        if self._child is not None:
            self._child.close()
            self._child = None
        if self._job >= 0:
            os.close(self._job)
            self._job = -1

    def on_frame(self, child: ChildProcess, frame: Frame) -> None:
        """The child claims something about the current test."""
        i = len(self.results)
        child.check_sizes(frame)
        if frame.kind in SETUP:
            tail = child.stderr_tail(frame.err)
            self._settle_all(SETUP[frame.kind], tail)
        elif frame.kind == frames.READY and not self._defined:
            self._defined = True
        elif frame.test != i:
            raise MalformedFrame
        elif frame.kind == frames.LEAVE and i > self._first:  # or it could leave for ever
            self._next_child()
        elif frame.kind == frames.DONE:
            self._settle(child, frame.out, frame.err, self._compare(child, frame.out, frame.payload))
        elif frame.kind == frames.MEMORY and i > self._first:
            self._next_child()
        elif frame.kind in FAULTS:
            self._settle(child, frame.out, frame.err, FAULTS[frame.kind])
        else:
            raise MalformedFrame

    def on_read(self, child: ChildProcess) -> None:
        """All that the child has claimed so far is judged."""
        if len(self.results) > self._timed:
            self._timed = len(self.results)
            child.begin(self.limits.seconds)  # for the test that it runs now

    def on_malformed(self, child: ChildProcess) -> None:
        """The child broke the protocol."""
        self._end_test(child, Verdict.RUNTIME)

    def on_expired(self, child: ChildProcess) -> None:
        """The child's time is over."""
        self._timeouts += 1
        self._end_test(child, Verdict.TIME)

    def on_end(self, child: ChildProcess, outcome: int) -> None:
        """The child has ended in the middle of a test: with an exit code, or by a signal if negative."""
        if outcome == 0 and self._printing:  # os._exit(0): what it has printed counts
            self._end_test(child, self._compare(child, child.out_size(), b""))
        elif outcome == -signal.SIGXCPU:
            self.on_expired(child)
        elif outcome == -signal.SIGKILL and not child.lost:  # nobody but the kernel does this: out of memory
            if self._defined and len(self.results) > self._first:
                self._next_child()
            else:
                self._end_test(child, Verdict.MEMORY)
        else:
            self._end_test(child, Verdict.RUNTIME)

    # ---- tests --------------------------------------------------------------------------------------------------

    def _settle(self, child: ChildProcess, out: int, err: int, verdict: Verdict) -> None:
        """The current test has its verdict; the child goes on to the next."""
        if verdict is not Verdict.PASS and out - child.out_at > self.limits.output_bytes:
            verdict = Verdict.OUTPUT
        self.results.append(TestResult(verdict, child.stderr_tail(err)))
        child.settle(out, err)
        is_used_up = verdict is Verdict.MEMORY or max(out, err) > 2 * self.limits.output_bytes
        if is_used_up and not self.done:
            self._next_child()  # its memory may be full, or its files may not grow much more

    def _end_test(self, child: ChildProcess, verdict: Verdict) -> None:
        """The child cannot go on: the current test has its verdict, and all have if the functions are not defined."""
        if not self._defined:
            self._settle_all(verdict, child.stderr_tail(child.err_size()))
            return
        self._settle(child, child.out_size(), child.err_size(), verdict)
        if self._timeouts >= self.limits.timeouts:
            self._settle_all(Verdict.TIME, "")
        if not self.done and child is self._child:
            self._next_child()

    def _settle_all(self, verdict: Verdict, stderr_tail: str) -> None:
        """All remaining tests have this verdict."""
        self.results += [TestResult(verdict, stderr_tail)] * (len(self.tests) - len(self.results))

    def _next_child(self) -> None:
        if self._child is not None:
            self._child.close()
        i = self._first = self._timed = len(self.results)
        self._defined = self._printing  # else once the child says so
        self._child = self._spawn(self._job, first=i, tests=len(self.tests) - i, largest=self._largest, asked=False)

    def _compare(self, child: ChildProcess, out: int, payload: bytes) -> Verdict:
        test, tolerance = self.tests[len(self.results)], self.job.tolerance
        if out - child.out_at > self.limits.output_bytes:
            return Verdict.OUTPUT
        if isinstance(test, StdinTest):
            return Verdict.PASS if same_output(child.printed(out), test.output, tolerance) else Verdict.WRONG
        if len(payload) > _LARGE and not may_be_equal(payload, encode(test.expected).encode()):
            return Verdict.WRONG
        try:
            result = parse_result(payload)
        except Malformed as error:
            raise MalformedFrame from error
        return Verdict.PASS if same_result(result, test.expected, tolerance) else Verdict.WRONG
