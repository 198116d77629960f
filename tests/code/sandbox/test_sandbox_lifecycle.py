"""Workers die, processes fork, threads end: no job is lost, and nothing outlives the supervisor."""

from __future__ import annotations

import errno
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from vpo_envs.code.sandbox import CallTest, Job, Limits, Sandbox, SandboxError, StdinTest, Verdict, make_check
from vpo_envs.code.sandbox.limits import TestResult
from vpo_envs.code.sandbox.worker import Worker

ROOT = Path(__file__).parents[3]
DOUBLE = Job("print(2 * int(input()))", tuple(StdinTest(str(i), str(2 * i)) for i in range(4)))
SLOW = Job("import time\ntime.sleep(0.2)\nprint(2 * int(input()))", DOUBLE.tests)


def passed(results: list[list[TestResult]]) -> bool:
    return all(r.passed for row in results for r in row)


def test_a_batch_keeps_its_order_on_several_workers() -> None:
    jobs = [
        Job(f"print({i})", (StdinTest("", str(i)), StdinTest("", str(i + 1)))) if i % 3 else SLOW for i in range(10)
    ]
    with Sandbox(workers=3) as sandbox:
        results = sandbox.run_batch(jobs)
    for job, row in zip(jobs, results, strict=True):
        assert [r.passed for r in row] == ([True] * 4 if job is SLOW else [True, False])


def test_no_jobs_and_no_tests(sandbox: Sandbox) -> None:
    assert sandbox.run_batch([]) == []
    assert sandbox.run_batch([Job("print(1)", ()), DOUBLE])[0] == []


def test_a_fork_server_that_is_killed_is_started_again_and_loses_no_job() -> None:
    with Sandbox(workers=1) as sandbox:
        sandbox.report()
        first = sandbox._workers[0].pid
        killer = threading.Timer(0.3, os.kill, (first, signal.SIGKILL))
        killer.start()
        assert passed(sandbox.run_batch([SLOW, DOUBLE]))
        killer.join()
        second = sandbox._workers[0].pid
        assert second != first
        os.kill(second, signal.SIGKILL)  # now while it is idle
        assert passed(sandbox.run_batch([DOUBLE]))


def test_a_fork_server_that_dies_between_two_programs_costs_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    spawn = Worker.spawn
    with Sandbox(workers=1) as sandbox:
        assert passed(sandbox.run_batch([DOUBLE]))
        before = len(os.listdir("/proc/self/fd"))

        def die_first(worker: Worker, *arguments: Any) -> None:
            monkeypatch.setattr(Worker, "spawn", spawn)
            os.kill(worker.pid, signal.SIGKILL)
            os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
            spawn(worker, *arguments)

        monkeypatch.setattr(Worker, "spawn", die_first)
        assert passed(sandbox.run_batch([DOUBLE]))
        assert len(os.listdir("/proc/self/fd")) <= before + 1  # a pidfd whose child has not been reported yet


def test_a_fork_server_that_always_dies_is_an_error_and_no_score() -> None:
    stop = threading.Event()
    with Sandbox(workers=1) as sandbox:
        sandbox.report()

        def kill_all() -> None:
            while not stop.wait(0.02):
                for worker in sandbox._workers:
                    if worker.children and worker.alive:
                        os.kill(worker.pid, signal.SIGKILL)

        thread = threading.Thread(target=kill_all)
        thread.start()
        try:
            with pytest.raises(SandboxError, match="died 4 times"):
                sandbox.run_batch([SLOW])
        finally:
            stop.set()
            thread.join()
        assert passed(sandbox.run_batch([DOUBLE]))


def test_the_thread_that_started_a_worker_may_end() -> None:
    with Sandbox(workers=1) as sandbox:
        for _ in range(3):
            with ThreadPoolExecutor(1) as pool:
                assert passed(pool.submit(sandbox.run_batch, [DOUBLE]).result())


def test_threads_take_turns() -> None:
    with Sandbox(workers=1) as sandbox, ThreadPoolExecutor(4) as pool:
        for results in pool.map(sandbox.run_batch, [[DOUBLE, SLOW]] * 4):
            assert passed(results)


def test_a_forked_process_starts_workers_of_its_own() -> None:
    with Sandbox(workers=1) as sandbox:
        assert passed(sandbox.run_batch([DOUBLE]))
        theirs = sandbox._workers[0].pid
        if (pid := os.fork()) == 0:
            try:
                good = passed(sandbox.run_batch([DOUBLE])) and sandbox._workers[0].pid != theirs
                sandbox.close()
                os._exit(not good)
            finally:
                os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0
        assert sandbox._workers[0].alive
        assert sandbox._workers[0].pid == theirs
        assert passed(sandbox.run_batch([DOUBLE]))


def test_a_pickled_sandbox_is_a_new_one_with_the_same_options() -> None:
    with Sandbox(workers=1, limits=Limits(seconds=0.3)) as sandbox:
        assert passed(sandbox.run_batch([DOUBLE]))
        with pickle.loads(pickle.dumps(sandbox)) as copy:
            assert (copy.num_workers, copy.limits) == (1, sandbox.limits)
            assert passed(copy.run_batch([DOUBLE]))


def test_a_closed_sandbox_starts_again() -> None:
    sandbox = Sandbox(workers=1)
    for _ in range(2):
        assert passed(sandbox.run_batch([DOUBLE]))
        process = sandbox._workers[0].pid
        sandbox.close()
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_an_interrupt_ends_the_batch_and_the_next_one_runs() -> None:
    with Sandbox(workers=1) as sandbox:
        sandbox.report()
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        # A shell that starts the tests in the background has the signal ignored, and Python leaves it so.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                sandbox.run_batch([Job("while True: pass", (StdinTest("", ""),))], Limits(seconds=30))
            timer.join()
        finally:
            signal.signal(signal.SIGINT, before)
        assert passed(sandbox.run_batch([DOUBLE]))


ENDLESS = """
import os, sys, threading, time
from vpo_envs.code.sandbox import *
sandbox = Sandbox(workers=2)
sandbox.report()
program = "import time\\nwhile True:\\n try: time.sleep(99)\\n except BaseException: pass"
def show():
    while sum(c.pid is not None for w in sandbox._workers for c in w.children.values()) < 2: time.sleep(0.01)
    children = [c.pid for w in sandbox._workers for c in w.children.values()]
    print(*(w.pid for w in sandbox._workers), *children, flush=True)
threading.Thread(target=show).start()
sandbox.run_batch([Job(program, (StdinTest("", ""),))] * 2, Limits(seconds=60))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_servers_and_children_die_with_the_supervisor(number: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    pids = [int(word) for word in process.stdout.readline().split()]
    assert len(pids) == 4
    process.send_signal(number)
    process.wait()
    process.stdout.close()
    end = time.monotonic() + 20
    while pids and time.monotonic() < end:
        pids = [pid for pid in pids if Path(f"/proc/{pid}").exists() and "Z (" not in _state(pid)]
        time.sleep(0.01)
    assert pids == []


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "Z ("


def test_without_seccomp_it_refuses_unless_told_otherwise() -> None:
    with (
        Sandbox(workers=1, _without=("seccomp",)) as sandbox,
        pytest.raises(SandboxError, match="cannot protect this machine: no seccomp"),
    ):
        sandbox.run_batch([DOUBLE])
    with Sandbox(workers=1, unsafe=True, _without=("seccomp",)) as sandbox:
        with pytest.warns(RuntimeWarning) as warned:
            report = sandbox.report()
        assert "no seccomp" in str(warned[0].message)
        assert report.seccomp == ""
        assert not report.self_test["start a process"]
        assert passed(sandbox.run_batch([DOUBLE]))


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxError, match="Linux virtual machine or container"):
        Sandbox().run("", [StdinTest("", "")])


def test_the_report_names_every_layer(sandbox: Sandbox) -> None:
    report = sandbox.report()
    assert report.faults == ()
    assert report.no_capabilities
    assert set(report.self_test.values()) == {True}
    assert len(report.self_test) == 4
    assert report.seccomp in str(report)


def test_a_program_starts_with_its_own_descriptors_only(sandbox: Sandbox) -> None:
    program = """
import os
found = []
for d in range(64):
    try: os.fstat(d)
    except OSError: continue
    found.append(d)
print(len(found))
"""
    # 0, 1, 2 and their spares, the sealed job, and the pipe for frames
    assert sandbox.run(program, [StdinTest("", "8")])[0].passed


def test_wrong_jobs_are_refused() -> None:
    with pytest.raises(TypeError, match="must be a str"):
        Job(None, ())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="all StdinTest or all CallTest"):
        Job("", (StdinTest("", ""), CallTest((), 1)))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="entry_point"):
        Job("", (CallTest((), 1),))
    deep: list[object] = []
    for _ in range(70):
        deep = [deep]
    wide = [[0] * 1_000_000] * 5
    for value, reason in ((deep, "64 levels"), (wide, "4,000,000 values"), ([object()], "no None, bool")):
        with pytest.raises(ValueError, match=f"CallTest: expected cannot be passed on.*{reason}"):
            CallTest((), value)
        with pytest.raises(ValueError, match=f"CallTest: arguments cannot be passed on.*{reason}"):
            CallTest((value,), 1)
    assert CallTest((), '{"o": 1}').expected == '{"o": 1}'
    for tolerance in (0, 1, -1e-6, float("nan"), True, "1e-6"):
        with pytest.raises(ValueError, match="Job: tolerance must be None or a number above 0 and below 1"):
            Job("", (), tolerance=tolerance)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="workers"):
        Sandbox(workers=0)
    with pytest.raises(ValueError, match="seconds"):
        Limits(seconds=0)


def test_a_claim_takes_little_memory_of_the_supervisor(sandbox: Sandbox) -> None:
    program = "def f(): return [[]] * 1_000_000"  # 3 MB of text, 64 MB as lists
    tracemalloc.start()
    (result,) = sandbox.run(program, [CallTest((), 60_000 * "x")], entry_point="f")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.verdict is Verdict.WRONG
    assert peak < 30 << 20


def test_where_descriptors_run_out_none_is_lost() -> None:
    check = make_check("", "def check(c): assert c() == 1")
    jobs = [DOUBLE, Job("def f(): return 1", check, "f")]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    sandbox = Sandbox(workers=1)
    before = len(os.listdir("/proc/self/fd"))
    for more in range(14):
        for job in jobs:
            sandbox.report()
            spare = os.dup(0)  # the lowest number that is free
            os.close(spare)
            resource.setrlimit(resource.RLIMIT_NOFILE, (spare + more, hard))
            try:
                passed(sandbox.run_batch([job]))
            except OSError as error:
                assert error.errno == errno.EMFILE  # noqa: PT017 (more descriptors are enough)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            sandbox.close()
            assert len(os.listdir("/proc/self/fd")) == before


def test_the_descriptors_of_the_supervisor_do_not_grow() -> None:
    with Sandbox(workers=1) as sandbox:
        jobs = [DOUBLE, Job("import os; os.abort()", DOUBLE.tests), Job("def", DOUBLE.tests)]
        sandbox.run_batch(jobs)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            results = sandbox.run_batch(jobs)
        assert len(os.listdir("/proc/self/fd")) <= before + 1  # a pidfd whose child has not been reported yet
        assert [r.verdict for r in results[1]] == [Verdict.RUNTIME] * 4
