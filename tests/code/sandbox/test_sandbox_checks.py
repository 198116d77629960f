"""Check code of data sets: every assert statement is a test, whatever surrounds it."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest

from vpo_envs.code.sandbox import Job, Limits, Sandbox, SandboxError, Verdict, make_check

PASS, WRONG, TIME, RUNTIME = Verdict.PASS, Verdict.WRONG, Verdict.TIME, Verdict.RUNTIME
LIMITS = Limits(seconds=0.3)

PLAIN = """
def check(candidate):
    assert candidate(1) == 2, "a message"
    assert candidate(2) == 3
    assert candidate([1]) == [1, 1] if False else True
    assert candidate(x=3) == 4
"""
LOOP = """
def check(candidate):
    import random
    rng = random.Random(42)
    for i in range(20):
        x = rng.randrange(100)
        result = candidate(x)
        assert result == x + 1
    assert candidate(-1) == 0
"""
HELPER = """
def near(a, b):
    assert abs(a - b) < 1e-9
    return True
def check(candidate):
    assert near(candidate(0.5), one_and_a_half)
"""


def verdicts(sandbox: Sandbox, program: str, source: str, setup: str = "") -> list[Verdict]:
    return [r.verdict for r in sandbox.run(program, make_check(setup, source), LIMITS, entry_point="f")]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def f(x): return x + 1", [PASS, PASS, PASS, PASS]),
        ("def f(x): return 2", [PASS, WRONG, PASS, WRONG]),
        ("def f(x): return None", [WRONG, WRONG, PASS, WRONG]),
        ("def f(x):\n if x == 2: 1 / 0\n return x + 1", [PASS, RUNTIME, PASS, PASS]),
        ("def f(x):\n if x == 2: import os; os._exit(0)\n return x + 1", [PASS, RUNTIME, PASS, PASS]),
        ("def f(x):\n while x == 2: pass\n return x + 1", [PASS, TIME, PASS, PASS]),
        ("def f(x):\n while x < 3: pass\n return x + 1", [TIME, TIME, TIME, TIME]),  # two time-outs end it
        ("def f(x):\n if x == 2: return bytearray(1 << 40)\n return x + 1", [PASS, Verdict.MEMORY, PASS, PASS]),
        ("def f(x): return x + 1\ndef", [Verdict.COMPILE] * 4),
        ("def g(x): return x + 1", [RUNTIME] * 4),
        ("1 / 0", [RUNTIME] * 4),
        ("while True: pass", [TIME] * 4),
        ("class Solution:\n def f(self, x): return x + 1", [PASS] * 4),
        (
            "class A(int):\n __eq__ = lambda s, o: True\n __hash__ = int.__hash__\ndef f(x): return A(7)",
            [WRONG, WRONG, PASS, WRONG],
        ),
    ],
)
def test_each_assert_is_a_test(sandbox: Sandbox, program: str, expected: list[Verdict]) -> None:
    assert verdicts(sandbox, program, PLAIN) == expected


def test_an_assert_in_a_loop_must_be_true_each_time(sandbox: Sandbox) -> None:
    assert verdicts(sandbox, "def f(x): return x + 1", LOOP) == [PASS, PASS]
    assert verdicts(sandbox, "def f(x): return x + 1 if x != 81 else 0", LOOP) == [WRONG, PASS]
    assert verdicts(sandbox, "def f(x): return x + 1 if x >= 0 else 7", LOOP) == [PASS, WRONG]


def test_a_loop_that_is_left_by_an_exception_is_not_passed(sandbox: Sandbox) -> None:
    program = "n = 0\ndef f(x):\n global n; n += 1\n if n > 3: raise ValueError\n return x + 1"
    assert verdicts(sandbox, program, LOOP) == [RUNTIME, RUNTIME]


def test_helpers_and_setup(sandbox: Sandbox) -> None:
    assert verdicts(sandbox, "def f(x): return x + 1", HELPER, "one_and_a_half = 1.5") == [PASS, PASS]
    assert verdicts(sandbox, "def f(x): return x", HELPER, "one_and_a_half = 1.5") == [WRONG, PASS]


def test_the_name_of_the_entry_point_is_the_candidate_unless_the_setup_defines_it(sandbox: Sandbox) -> None:
    source = "def check(candidate):\n    assert candidate(1) == f(1)"
    assert verdicts(sandbox, "def f(x): return 7", source) == [PASS]
    assert verdicts(sandbox, "def f(x): return 7", source, "def f(x): return x + 1") == [WRONG]
    assert verdicts(sandbox, "def f(x): return 2", source, "def f(x): return x + 1") == [PASS]


def test_exceptions_keep_their_type(sandbox: Sandbox) -> None:
    source = """
def check(candidate):
    try:
        candidate()
        raised = None
    except ValueError as e:
        raised = str(e)
    assert raised == "because"
"""
    assert verdicts(sandbox, "def f(): raise ValueError('because')", source) == [PASS]
    assert verdicts(sandbox, "def f(): return 1", source) == [WRONG]
    assert verdicts(sandbox, "def f(): raise KeyError('because')", source) == [RUNTIME]


def test_the_program_cannot_reach_the_check(sandbox: Sandbox) -> None:
    attack = """
import gc, sys, os, struct
def f(x):
    texts = [repr(o) for o in gc.get_objects() if 'treasure' in repr(o)[:5000] and o is not texts_of]
    for d in range(3, 64):
        for kind in (10, 11):
            try: os.write(d, struct.pack('<BIQQI', kind, 0, 0, 0, 2) + b'1L')
            except OSError: pass
    return 'treasure'[::-1]
texts_of = None
"""
    assert verdicts(sandbox, attack, "def check(candidate):\n    assert candidate(1) == 'treasure'") == [RUNTIME]


def test_a_check_that_cannot_run_is_an_error_and_no_score(sandbox: Sandbox) -> None:
    for setup, source in (
        ("1 / 0", "def check(c):\n    assert c(1)"),
        ("", "def check(c):\n    y = x\n    assert c(1)"),
        ("while True: pass", "def check(c):\n    assert c(1)"),
        ("import os; os._exit(0)", "def check(c):\n    assert c(1)"),
    ):
        with pytest.raises(SandboxError, match="check code fails before it calls the program"):
            verdicts(sandbox, "def f(x): return 1", source, setup)
    assert verdicts(sandbox, "def f(x): return 1", PLAIN) == [WRONG, WRONG, PASS, WRONG]


def test_the_time_of_all_calls_is_bounded(sandbox: Sandbox) -> None:
    source = "def check(c):\n    for i in range(10**9):\n        assert c(i) is None"
    program = "import time\ndef f(x):\n end = time.process_time() + 0.05\n while time.process_time() < end: pass"
    assert verdicts(sandbox, program, source) == [TIME]


BURN = "import os, time\ndef burn(s):\n end = time.process_time() + s\n while time.process_time() < end: pass\n"


@pytest.mark.parametrize(
    "program",
    [
        BURN + "def f(x): burn(0.05); os._exit(0)",
        BURN + "burn(0.05)\ndef f(x): os._exit(0)",
        "import os, time\ndef f(x): time.sleep(0.2); os._exit(0)",
        "import time\ndef f(x): time.sleep(0.2)",
    ],
    ids=["calls that exit", "definitions", "sleep before an exit", "sleep"],
)
def test_time_is_bounded_however_it_is_spent(sandbox: Sandbox, program: str) -> None:
    source = "def check(c):\n    for i in range(10**9):\n        try:\n            c(i)\n        except Exception:\n"
    began = time.monotonic()
    assert verdicts(sandbox, program, source + "            pass\n    assert c(0)") == [TIME]
    assert time.monotonic() - began < 6  # two times 0.3 s of processor time, three times that on the clock


@pytest.mark.parametrize(("size", "expected"), [(20, PASS), (40, Verdict.MEMORY)])
def test_garbage_of_earlier_calls_fails_no_program(sandbox: Sandbox, size: int, expected: Verdict) -> None:
    program = f"kept = []\ndef f(x):\n kept.append(bytearray({size} << 20))\n return x"
    check = make_check("", "def check(c):\n    assert all(c(x) == x for x in range(5))")
    limits = Limits(seconds=1, memory_mb=32)
    assert [r.verdict for r in sandbox.run(program, check, limits, entry_point="f")] == [expected]


def test_threads_that_go_on_between_calls_end_the_program_and_are_no_fault_of_the_check(sandbox: Sandbox) -> None:
    program = "import threading\ndef spin():\n while True: pass\ndef f(x): return x\n"
    program += "for _ in range(4): threading.Thread(target=spin, daemon=True).start()"
    slow = "def check(c):\n    end = time.monotonic() + 1\n    while time.monotonic() < end: pass\n    assert c(1)"
    assert verdicts(sandbox, program, slow, "import time") == [TIME]
    assert verdicts(sandbox, "def f(x): return x", slow, "import time") == [PASS]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def f(x): return x < 3", PASS),
        ("def f(x): raise StopIteration", RUNTIME),  # the loop of `map` must not end early
        ("def f(x): raise StopAsyncIteration", RUNTIME),
        ("import sys\ndef f(x): sys.exit()", RUNTIME),
    ],
)
def test_an_exception_cannot_end_a_loop_of_the_check(sandbox: Sandbox, program: str, expected: Verdict) -> None:
    assert verdicts(sandbox, program, "def check(c):\n    assert all(map(c, range(3)))") == [expected]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def f(): raise ValueError", PASS),
        ("def f(): return 1", WRONG),
        ("import os\ndef f(): os._exit(0)", RUNTIME),
        ("import sys\ndef f(): sys.exit()", RUNTIME),
        ("def f():\n while True: pass", TIME),
        ("def f(): return bytearray(1 << 40)", Verdict.MEMORY),
        ("def f(): return 'x' * (20 << 20)", Verdict.OUTPUT),
    ],
)
def test_an_expected_exception_has_to_be_raised(sandbox: Sandbox, program: str, expected: Verdict) -> None:
    source = (
        "def check(c):\n    try:\n        c()\n        failed = False\n    except Exception:\n        failed = True\n"
    )
    assert verdicts(sandbox, program, source + "    assert failed\n    assert True") == [expected, PASS]


def test_a_check_that_never_calls_the_program_is_an_error_unless_the_program_cannot_run(sandbox: Sandbox) -> None:
    source = "def check(c):\n    if False: c()\n    assert True"
    with pytest.raises(SandboxError, match="without having called the program's f"):
        verdicts(sandbox, "def f(): pass", source)
    assert verdicts(sandbox, "1 / 0", source) == [RUNTIME]
    assert verdicts(sandbox, "def", source) == [Verdict.COMPILE]


@pytest.mark.parametrize(
    ("setup", "source", "message"),
    [
        ("", "def check(c): pass", "no assert"),
        ("", "assert True", "does not define check"),
        ("", "def check(c:", "check code does not parse"),
        ("def", "def check(c): assert c", "setup does not parse"),
        ("", "def check(c):\n  assert c\n  break", "does not parse"),
        ("", "def check(c): assert '\0'", "does not parse"),
        ("", "def check(c): assert True", "never uses its parameter"),
        ("", "def check(c): assert c\ndef check(candidate): assert c", "never uses its parameter"),
    ],
)
def test_code_that_is_no_check(setup: str, source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_check(setup, source)


def test_only_the_first_asserts_count(sandbox: Sandbox) -> None:
    source = "def check(c):\n" + "\n".join(f"    assert c({i}) == {i}" for i in range(20))
    assert make_check("", source).asserts == 16
    assert make_check("", source, most=3).asserts == 3
    assert verdicts(sandbox, "def f(x): return x if x != 15 else 0", source) == [PASS] * 15 + [WRONG]


def test_humaneval(real_data: Path) -> None:
    with gzip.open(real_data / "humaneval" / "HumanEval.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    checks = [make_check(row["prompt"] + row["canonical_solution"], row["test"]) for row in rows]
    entries = [row["entry_point"] for row in rows]

    def jobs(body: str | None) -> list[Job]:
        programs = [row["prompt"] + (row["canonical_solution"] if body is None else body) for row in rows]
        return [Job(p, c, e) for p, c, e in zip(programs, checks, entries, strict=True)]

    with Sandbox() as sandbox:
        good, bad = sandbox.run_batch(jobs(None)), sandbox.run_batch(jobs("    return None\n"))
    assert len(rows) == 164
    assert sum(all(r.passed for r in row) for row in good) == 164
    assert sum(all(r.passed for r in row) for row in bad) == 0
