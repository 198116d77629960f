"""Speed of the sandbox with all its layers, the cost of endless loops, how well a batch fills the processors, memory.

    python benchmarks/bench_sandbox.py [--seconds 3] [--programs 2000] [--json figures.json]

"tests/s per core" divides by the processor time of everything: supervisor, fork server and children. By the wall clock
it is less where other work shares the processors. So is the batch's work / (wall x cores); the share of the machine
that was left idle meanwhile tells whether the batch used what it could get.

Goals: 3,000 tests/s per core, at most 3 s for the loop, at least 0.83 for the batch (a wall time within 20% of total
work / cores). `--programs 100000` is the full check of the supervisor's memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from vpo_envs.code.sandbox import CallTest, Job, Limits, Sandbox, StdinTest, TestResult, Verdict

TESTS = 16
STDIN = Job("print(int(input()) + 1)", tuple(StdinTest(str(i), str(i + 1)) for i in range(TESTS)))
CALL = Job("def f(x): return x + 1", tuple(CallTest((i,), i + 1) for i in range(TESTS)), "f")
LOOP = Job("while True: pass", STDIN.tests)
WORK = Job("print(sum(range(100_000)) * 0 + int(input()) + 1)", STDIN.tests)  # about a millisecond a test


def measure(seconds: float, programs: int) -> dict[str, float]:
    """All figures, by name."""
    began = perf_counter()
    with Sandbox(workers=1) as sandbox:
        sandbox.report()
        figures = {"start of a worker s": perf_counter() - began}
    for name, job in (("stdin", STDIN), ("call", CALL)):
        figures |= measure_speed(name, job, seconds)
    return figures | measure_loop() | measure_batch() | measure_memory(programs)


def measure_speed(name: str, job: Job, seconds: float) -> dict[str, float]:
    """Trivial tests per second, one worker."""
    overhead = _processor_time(lambda sandbox: None, workers=1)[0]
    done = 0

    def work(sandbox: Sandbox) -> None:
        nonlocal done
        while perf_counter() - began < seconds:
            _check(sandbox.run_batch([job] * 64))
            done += 64 * TESTS

    began = perf_counter()
    used, wall = _processor_time(work, workers=1)
    return {
        f"{name} tests/s per core": done / (used - overhead),
        f"{name} tests/s, one worker, wall clock": done / wall,
    }


def measure_loop() -> dict[str, float]:
    """An endless loop on 16 tests with a limit of 1 s."""
    with Sandbox(workers=1, limits=Limits(seconds=1.0)) as sandbox:
        sandbox.report()
        began = perf_counter()
        (results,) = sandbox.run_batch([LOOP])
        assert {r.verdict for r in results} == {Verdict.TIME}
        return {"endless loop with 1 s limit s": perf_counter() - began}


def measure_batch() -> dict[str, float]:
    """256 programs with 16 tests of about a millisecond each, on all processors."""
    cores = len(os.sched_getaffinity(0))
    overhead = _processor_time(lambda sandbox: None, workers=cores)[0]
    idle = 0.0

    def work(sandbox: Sandbox) -> None:
        nonlocal idle
        idle -= _idle()
        _check(sandbox.run_batch([WORK] * 256))
        idle += _idle()

    used, wall = _processor_time(work, workers=cores)
    return {
        "batch of 256 x 16, wall s": wall,
        "  total work / (wall x cores)": (used - overhead) / (wall * cores),
        "  share of the machine left idle": idle / (wall * (os.cpu_count() or 1)),
    }


def measure_memory(programs: int) -> dict[str, float]:
    """Resident memory of the supervisor after a tenth of the programs, and how much it grows in the rest."""
    with Sandbox() as sandbox:
        job = Job(STDIN.program, STDIN.tests[:1])
        sizes = []
        for _ in range(10):
            _check(sandbox.run_batch([job] * (programs // 10)))
            sizes.append(_resident())
    return {"supervisor's memory MiB": sizes[0], f"  growth over {programs} programs MiB": sizes[-1] - sizes[0]}


def _processor_time(work: Callable[[Sandbox], None], workers: int) -> tuple[float, float]:
    """Processor seconds of everything while a sandbox starts, works and ends; wall seconds of the work alone."""

    def used() -> float:
        usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    before = used()
    with Sandbox(workers=workers) as sandbox:
        _check(sandbox.run_batch([STDIN] * workers))  # starts the workers
        began = perf_counter()
        work(sandbox)
        wall = perf_counter() - began
    return used() - before, wall


def _idle() -> float:
    """Seconds that the machine's processors have been idle, all together."""
    return int(Path("/proc/stat").read_text().split()[4]) / os.sysconf("SC_CLK_TCK")


def _check(results: list[list[TestResult]]) -> None:
    assert all(result.passed for row in results for result in row)


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed, fairness and memory of the sandbox.")
    parser.add_argument("--seconds", type=float, default=3.0, help="time for each speed")
    parser.add_argument("--programs", type=int, default=2000, help="programs over which memory is watched")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    figures = measure(options.seconds, options.programs)
    for name, value in figures.items():
        print(f"{name:44s} {value:12,.2f}")
    if options.json is not None:
        options.json.write_text(json.dumps({"programs": options.programs, "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
