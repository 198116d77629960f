"""Which verdict a test gets, and what one test of a program means for the next."""

from __future__ import annotations

import pytest

from vpo_envs.code.sandbox import CallTest, Limits, Sandbox, StdinTest, Verdict
from vpo_envs.code.sandbox.child_process import ChildProcess

PASS, WRONG, TIME, MEMORY = Verdict.PASS, Verdict.WRONG, Verdict.TIME, Verdict.MEMORY
OUTPUT, RUNTIME, COMPILE = Verdict.OUTPUT, Verdict.RUNTIME, Verdict.COMPILE
LIMITS = Limits(seconds=0.2, memory_mb=128, output_bytes=100_000)
FIVE = [StdinTest(str(i), str(i)) for i in range(5)]  # print the number that was read


def verdicts(sandbox: Sandbox, program: str, limits: Limits = LIMITS) -> list[Verdict]:
    return [r.verdict for r in sandbox.run(program, FIVE, limits)]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("print(input())", [PASS] * 5),
        ("print(2)", [WRONG, WRONG, PASS, WRONG, WRONG]),
        ("i = int(input())\nprint(i)\nif i == 2: 1 / 0", [PASS, PASS, RUNTIME, PASS, PASS]),
        ("i = int(input())\nif i == 2: bytearray(1 << 40)\nprint(i)", [PASS, PASS, MEMORY, PASS, PASS]),
        ("i = int(input())\nif i == 2:\n while True: pass\nprint(i)", [PASS, PASS, TIME, PASS, PASS]),
        ("i = int(input())\nif i in (1, 3):\n while True: pass\nprint(i)", [PASS, TIME, PASS, TIME, TIME]),
        ("i = int(input())\nprint(i, flush=True)\nif i == 2: import os; os.abort()", [PASS, PASS, RUNTIME, PASS, PASS]),
        ("i = int(input())\nprint(i)\nif i == 2: import os; os._exit(0)", [PASS, PASS, WRONG, PASS, PASS]),
        ("i = int(input())\nif i == 2: import os; os.closerange(0, 99)\nprint(i)", [PASS, PASS, RUNTIME, PASS, PASS]),
        ("i = int(input())\nprint(i if i != 2 else 'x' * 100001)", [PASS, PASS, OUTPUT, PASS, PASS]),
        ("i = int(input())\nprint(i if i != 2 else '2' + ' ' * 90000)", [PASS] * 5),
        ("print(input() + 90000 * ' ')", [PASS] * 5),  # more together than a single test may print
        ("import sys\nprint(input())\nsys.stderr.write(300000 * 'x')", [PASS] * 5),
        ("print(input())\nprint('\\udcff\\ud800')", [RUNTIME] * 5),
        ("import os\nprint(input(), flush=True)\nos.write(1, b'\\xff')", [WRONG] * 5),
        ("def", [COMPILE] * 5),
    ],
)
def test_every_test_has_its_own_verdict(sandbox: Sandbox, program: str, expected: list[Verdict]) -> None:
    assert verdicts(sandbox, program) == expected


def test_after_so_many_time_outs_the_rest_is_not_run(sandbox: Sandbox) -> None:
    program = "i = int(input())\nif i in (0, 2):\n while True: pass\nprint(i)"
    assert verdicts(sandbox, program, Limits(seconds=0.1, timeouts=1)) == [TIME] * 5
    assert verdicts(sandbox, program, Limits(seconds=0.1, timeouts=2)) == [TIME, PASS, TIME, TIME, TIME]
    assert verdicts(sandbox, program, Limits(seconds=0.1, timeouts=3)) == [TIME, PASS, TIME, PASS, PASS]


def test_the_time_limit_is_on_the_processor_and_the_backstop_on_the_clock(sandbox: Sandbox) -> None:
    sleeps = "import time\ntime.sleep(0.3)\nprint(input())"
    assert verdicts(sandbox, sleeps, Limits(seconds=0.1, wall_factor=100)) == [PASS] * 5
    assert verdicts(sandbox, sleeps, Limits(seconds=0.1, wall_factor=2)) == [TIME] * 5


def test_the_time_of_one_test_is_not_counted_for_the_next(sandbox: Sandbox) -> None:
    program = "import time\nend = time.process_time() + 0.1\nwhile time.process_time() < end: pass\nprint(input())"
    assert verdicts(sandbox, program, Limits(seconds=0.3)) == [PASS] * 5


def test_the_memory_limit_is_what_it_says(sandbox: Sandbox) -> None:
    program = "x = bytearray(%d << 20)\nprint(input())"
    assert verdicts(sandbox, program % 90, Limits(memory_mb=128)) == [PASS] * 5
    assert verdicts(sandbox, program % 140, Limits(memory_mb=128)) == [MEMORY] * 5


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("import math\nmath.kept = [bytearray(50 << 20), *getattr(math, 'kept', [])]\nprint(input())", PASS),
        ("x = bytearray(140 << 20)\nprint(input())", MEMORY),
        ("import math\nbytearray(getattr(math, 'n', 0) << 40)\nmath.n = 1\nprint(input())", PASS),
    ],
    ids=["what earlier tests kept", "too much each time", "an error only in a used child"],
)
def test_garbage_of_earlier_tests_fails_no_program(sandbox: Sandbox, program: str, expected: Verdict) -> None:
    assert verdicts(sandbox, program) == [expected] * 5


def test_a_large_stack_is_no_memory_for_the_next_test(sandbox: Sandbox) -> None:
    program = "import threading\nx = bytearray(%d << 20)\nprint(input())\nthreading.stack_size(256 << 20)"
    assert verdicts(sandbox, program % 90) == [PASS] * 5
    assert verdicts(sandbox, program % 140) == [MEMORY] * 5


@pytest.mark.parametrize(
    ("end", "verdict"),
    [("import os; os._exit(0)", RUNTIME), ("while True: pass", TIME), ("import os; os.abort()", RUNTIME)],
)
def test_functions_that_cannot_be_defined_are_tried_once(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, end: str, verdict: Verdict
) -> None:
    children = []
    start = ChildProcess.start
    monkeypatch.setattr(ChildProcess, "start", lambda child: (children.append(child), start(child))[1])
    tests = [CallTest((i,), i) for i in range(5)]
    results = sandbox.run(f"def f(i): return i\n{end}", tests, LIMITS, entry_point="f")
    assert [r.verdict for r in results] == [verdict] * 5
    assert len(children) == 1


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def f(i): return i", [PASS] * 5),
        ("def f(i): return i if 1 // (i - 2) else 0", [PASS, PASS, RUNTIME, PASS, WRONG]),
        ("def f(i):\n if i == 2: import os; os.abort()\n return i", [PASS, PASS, RUNTIME, PASS, PASS]),
        ("def f(i):\n while i == 2: pass\n return i", [PASS, PASS, TIME, PASS, PASS]),
        ("def f(i): return i if i != 2 else 'x' * 200000", [PASS, PASS, OUTPUT, PASS, PASS]),
        ("def f(i): return bytearray(1 << 40)", [MEMORY] * 5),
        ("x = bytearray(1 << 40)\ndef f(i): return i", [MEMORY] * 5),
        ("while True: pass", [TIME] * 5),
        ("class Solution:\n def f(self, i): return i", [PASS] * 5),
        ("class Solution: pass\ndef f(i): return i", [PASS] * 5),
        ("class Solution:\n def __init__(self): 1 / 0\n def f(self, i): return i", [RUNTIME] * 5),
        ("import sys\ndef f(i): return i\nsys.exit()", [PASS] * 5),
        ("def f(i): yield i", [WRONG] * 5),
        ("def f(): return 1", [RUNTIME] * 5),
    ],
)
def test_every_call_has_its_own_verdict(sandbox: Sandbox, program: str, expected: list[Verdict]) -> None:
    tests = [CallTest((i,), i) for i in range(5)]
    assert [r.verdict for r in sandbox.run(program, tests, LIMITS, entry_point="f")] == expected


def test_the_end_of_standard_error_tells_why(sandbox: Sandbox) -> None:
    program = "import sys\nprint('note', file=sys.stderr)\nprint([][int(input())])"
    for result in sandbox.run(program, FIVE[:2]):
        assert result.stderr_tail.startswith('note\nTraceback (most recent call last):\n  File "<program>", line 3')
        assert result.stderr_tail.endswith("IndexError: list index out of range\n")
        assert "vpo_envs" not in result.stderr_tail
    assert "SyntaxError" in sandbox.run("def", FIVE[:1])[0].stderr_tail
    assert "neither g nor" in sandbox.run("", [CallTest((), 1)], entry_point="g")[0].stderr_tail
    assert (
        "64 levels"
        in sandbox.run("def f(x): x.append(x); return x", [CallTest(([],), 1)], entry_point="f")[0].stderr_tail
    )
    long = sandbox.run("import sys\nsys.stderr.write('x' * 5000 + 'é')", FIVE[:1])[0].stderr_tail
    assert (len(long), long[-2:]) == (1000, "xé")


def test_a_tolerance_is_for_numbers_only(sandbox: Sandbox) -> None:
    printed = [StdinTest("", "0.3 a"), StdinTest("", "0.31 a"), StdinTest("", "0.3 b")]
    assert [r.passed for r in sandbox.run("print(0.1 + 0.2, 'a')", printed)] == [False] * 3
    assert [r.passed for r in sandbox.run("print(0.1 + 0.2, 'a')", printed, tolerance=1e-6)] == [True, False, False]
    tests = [CallTest((), {"a": [0.3]}), CallTest((), {"a": [0.31]})]
    program = "def f(): return {'a': [0.1 + 0.2]}"
    assert [r.passed for r in sandbox.run(program, tests, entry_point="f")] == [False] * 2
    assert [r.passed for r in sandbox.run(program, tests, entry_point="f", tolerance=1e-6)] == [True, False]
