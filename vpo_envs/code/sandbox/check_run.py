"""Check code and the program that it tests, each in a child of its own; every call between them passes through here."""

from __future__ import annotations

import os
import signal

from vpo_envs.code.sandbox.child_process import ChildProcess, Frame, MalformedFrame, make_job
from vpo_envs.code.sandbox.inside import frames
from vpo_envs.code.sandbox.inside.values import encode
from vpo_envs.code.sandbox.limits import Check, Job, Limits, SandboxError, TestResult, Verdict
from vpo_envs.code.sandbox.program_run import FAULTS, SETUP, Spawn, not_begun

_CHECK_SECONDS = 5  # times `Limits.seconds`: what the check code itself may take
_RAISED = {  # what the check sees when a call fails otherwise than by an exception
    Verdict.TIME: ("TimeoutError", "time limit"),
    Verdict.MEMORY: ("MemoryError", "memory limit"),
    Verdict.OUTPUT: ("OverflowError", "output limit"),
    Verdict.RUNTIME: ("RuntimeError", "the program ended"),
}


class CheckRun:
    """The assert statements of a check, each a test.

    Defining the functions has `Limits.seconds`, and so has a call. All children of the program together have so much
    processor time for each assert statement and once more, and `wall_factor` times that on the clock.
    """

    def __init__(self, job: Job, limits: Limits) -> None:
        assert isinstance(job.tests, Check)
        self.job, self.limits, self.check = job, limits, job.tests
        self.results: list[TestResult] = []
        self._jobs: list[int] = []
        self._spawn: Spawn = not_begun
        self._program: ChildProcess | None = None
        self._checker: ChildProcess | None = None

    @property
    def done(self) -> bool:
        return bool(self.results)

    # ---- life: the event loop calls these -----------------------------------------------------------------------

    def begin(self, spawn: Spawn) -> None:
        """Start, or start again after a worker died."""
        self.close()
        check, limits, entry = self.check, self.limits, self.job.entry_point
        self._spawn, self.results, self._timeouts, self._called = spawn, [], 0, False
        self._seconds_left = limits.seconds * (check.asserts + 1)
        self._wall_left = self._seconds_left * limits.wall_factor
        self._seen: dict[int, Verdict] = {}  # asserts that were evaluated
        self._open: set[int] = set()  # those of them that may be evaluated again
        self._fault: Verdict | None = None  # of a call since the last assert
        self._broken: Verdict | None = None  # of one that ended otherwise than by a result or an exception
        self._call: bytes | None = None  # the arguments of a call that the program has not answered
        self._stderr = ""
        self._tails: dict[int, str] = {}  # standard error of the calls in those that failed
        self._jobs.append(make_job(frames.SERVE, (), limits, program=self.job.program, entry_point=entry))
        source = {"program": check.source, "setup": check.setup}
        self._jobs.append(make_job(frames.CHECK, (), limits, entry_point=entry, **source))
        self._start_program()

    def close(self) -> None:
        """End the children and free the jobs."""
        self._spawn = not_begun
        for child in (self._program, self._checker):
            if child is not None:
                child.close()
        self._program = self._checker = None
        while self._jobs:
            os.close(self._jobs.pop())

    def on_frame(self, child: ChildProcess, frame: Frame) -> None:
        """A child claims something."""
        if child is self._program:
            self._on_program(child, frame)
        else:
            self._on_checker(child, frame)

    def on_read(self, child: ChildProcess) -> None:
        """All that a child has claimed so far is judged."""

    def on_malformed(self, child: ChildProcess) -> None:
        """A child broke the protocol."""
        self._on_broken(child, Verdict.RUNTIME)

    def on_expired(self, child: ChildProcess) -> None:
        """A child's time is over."""
        self._on_broken(child, Verdict.TIME)

    def on_end(self, child: ChildProcess, outcome: int) -> None:
        """A child has ended by itself."""
        out_of_memory = outcome == -signal.SIGKILL and not child.lost
        self._on_broken(child, Verdict.MEMORY if out_of_memory else Verdict.RUNTIME)

    def on_starved(self) -> None:
        """One of the two children cannot be started while the other is there."""
        self._finish(Verdict.RUNTIME)

    # ---- the program --------------------------------------------------------------------------------------------

    def _start_program(self) -> None:
        self._ready, self._answered, self._counted = False, False, 0.0
        self._program = self._spawn(self._jobs[0], first=0, tests=self.check.asserts + 1, largest=0, asked=True)
        self._program.seconds, self._program.wall_seconds = self._time_left()

    def _time_left(self) -> tuple[float, float]:
        """Processor time and time on the clock that the program may take next."""
        return max(1e-3, min(self.limits.seconds, self._seconds_left)), max(1e-3, self._wall_left)

    def _count_time(self, child: ChildProcess) -> None:
        """Take what the program has used from what it has. To be called before each pause, and at its end."""
        used = child.cpu()
        self._seconds_left -= used - self._counted
        self._counted = used
        self._wall_left -= child.passed()

    def _on_program(self, child: ChildProcess, frame: Frame) -> None:
        child.check_sizes(frame)
        if frame.kind in SETUP and not self._ready:
            self._stderr = child.stderr_tail(frame.err)
            self._finish(SETUP[frame.kind])
        elif frame.kind == frames.READY and not self._ready:
            self._ready = True
            child.settle(frame.out, frame.err)
            self._count_time(child)
            child.pause()
            self._pass_call_on()
            if self._checker is None:
                self._checker = self._spawn(self._jobs[1], first=0, tests=_CHECK_SECONDS, largest=0, asked=True)
                self._checker.seconds *= _CHECK_SECONDS
                self._checker.wall_seconds *= _CHECK_SECONDS
        elif self._call is None or frame.kind not in (frames.DONE, *FAULTS):
            raise MalformedFrame
        else:
            self._stderr = child.stderr_tail(frame.err) or self._stderr
            child.settle(frame.out, frame.err)
            self._count_time(child)
            child.pause()
            if frame.kind == frames.MEMORY and self._may_be_garbage():
                return
            self._answered = True
            self._answer(FAULTS.get(frame.kind), frame.payload if frame.kind in (frames.DONE, frames.ERROR) else b"")
            if max(frame.out, frame.err) > 2 * self.limits.output_bytes and not self.done:
                child.close()
                self._start_program()

    def _pass_call_on(self) -> None:
        assert self._program is not None
        if self._call is not None and self._ready:
            self._program.send(False, self._call)
            self._program.begin(*self._time_left())

    def _may_be_garbage(self) -> bool:
        """Make a call that ran out of memory again in a new child, if there were others in this one."""
        if self._answered and self._call is not None and self._seconds_left > 0 and self._wall_left > 0:
            assert self._program is not None
            self._program.close()
            self._start_program()
            return True
        return False

    def _answer(self, fault: Verdict | None, payload: bytes) -> None:
        """Pass on a result, or an exception if there is a fault; without a payload the program did not raise it."""
        assert self._checker is not None
        self._call = None
        self._fault = self._fault or fault
        if fault is Verdict.TIME:
            self._timeouts += 1
        if self._timeouts >= self.limits.timeouts or self._seconds_left <= 0 or self._wall_left <= 0:
            self._finish(Verdict.TIME)
            return
        if fault is not None and not payload:
            self._broken = self._broken or fault
            payload = encode(_RAISED[fault]).encode()
        self._checker.send(fault is not None, payload)
        self._checker.resume()

    def _on_broken(self, child: ChildProcess, verdict: Verdict) -> None:
        """A child cannot go on."""
        if child is not self._program:
            self._end_check(verdict)
            return
        self._stderr = child.stderr_tail(child.err_size()) or self._stderr
        self._count_time(child)
        child.close()
        if verdict is Verdict.MEMORY and self._ready and self._may_be_garbage():
            return
        if not self._ready or (self._call is None and verdict is Verdict.TIME):  # it fails before or between calls
            self._finish(verdict)
        elif self._call is not None:
            self._answer(verdict, b"")
        if not self.done:
            self._start_program()

    # ---- the check ----------------------------------------------------------------------------------------------

    def _on_checker(self, child: ChildProcess, frame: Frame) -> None:
        if frame.kind == frames.CALL and self._call is None:
            child.pause()
            self._called, self._call = True, frame.payload
            self._pass_call_on()
        elif frame.kind == frames.ASSERT and frame.test < self.check.asserts and len(frame.payload) == 2:
            self._on_assert(frame.test, frame.payload[:1] == frames.TRUE, frame.payload[1:] == frames.LAST)
        elif frame.kind == frames.CHECK_END and self._call is None:
            if not self._called:
                raise SandboxError(f"check code ends without having called the program's {self.job.entry_point}")
            self._open.clear()
            self._finish(self._fault or Verdict.WRONG)
        elif frame.kind == frames.CHECK_ERROR:
            self._stderr = child.stderr_tail(frame.err) if not self._called else self._stderr
            self._end_check(Verdict.RUNTIME)
        else:
            raise MalformedFrame

    def _on_assert(self, number: int, truth: bool, last: bool) -> None:
        before = self._seen.get(number, Verdict.PASS)
        verdict = self._broken or (Verdict.PASS if truth else self._fault or Verdict.WRONG)
        self._seen[number] = verdict if before is Verdict.PASS else before
        if self._seen[number] is not Verdict.PASS:
            self._tails.setdefault(number, self._stderr)
        if not last:
            self._open.add(number)
        self._fault = self._broken = None
        self._stderr = ""

    def _end_check(self, verdict: Verdict) -> None:
        """The check did not come to its end. Before it called the program, that is no fault of the program."""
        assert self._program is not None
        if not self._called and verdict is Verdict.TIME and not self._program.idles():
            self._finish(Verdict.TIME)
            return
        if not self._called:
            raise SandboxError(f"check code fails before it calls the program: {verdict}\n{self._stderr}")
        self._finish(self._fault or verdict)

    def _finish(self, verdict: Verdict) -> None:
        """Asserts that were not reached, or whose evaluations are not complete, get this verdict."""
        for number in range(self.check.asserts):
            seen = self._seen.get(number)
            if seen is None or (seen is Verdict.PASS and number in self._open):
                self.results.append(TestResult(verdict, self._stderr))
            else:
                self.results.append(TestResult(seen, self._tails.get(number, "")))
