"""Hostile and honest programs, read from two files. Needs nothing but the sandbox, so that any user can run it.

Each program of `sandbox_hostile.txt` follows a line with its name and

* the verdicts of which it must get one;
* or "tries": it must fail with an exception, for what follows it would print the expected output;
* or "f() is not VALUE" and verdicts: what its function `f` returns must not count as that value.

Each program of `sandbox_honest.txt` follows a line with its name, whether it prints or is a function `f`, and its
tests: pairs of input and output, or of arguments and result. It must pass all of them.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vpo_envs.code.sandbox import CallTest, Limits, Sandbox, StdinTest, Verdict

FOLDER = Path(__file__).parent
HOSTILE_LIMITS = Limits(seconds=0.3, wall_factor=2, timeouts=1, memory_mb=128, output_bytes=1 << 20)
HONEST_LIMITS = Limits(seconds=3, output_bytes=4 << 20)
PASS = Verdict.PASS
BROKEN = "broken"  # what a hostile program prints when its attempt succeeds, and what its test expects
ATTEMPT = "try:\n{}\nexcept Exception as error:\n    print(repr(error))\nelse:\n    print('broken')"


@dataclass(frozen=True)
class Program:
    """A program, its tests, and the verdicts that each of them may get. `{folder}` stands for a folder to attack."""

    name: str
    text: str
    tests: tuple[StdinTest | CallTest, ...]
    verdicts: frozenset[Verdict] = frozenset({PASS})
    imports: bool = False
    """It imports modules that the fork server has not, so that their files must be readable."""

    def run(self, sandbox: Sandbox, folder: str = "") -> list[Verdict]:
        """The verdicts of its tests."""
        limits = HONEST_LIMITS if self.verdicts == {PASS} else HOSTILE_LIMITS
        entry_point = "f" if isinstance(self.tests[0], CallTest) else None
        text = self.text.replace("{folder}", folder)
        return [r.verdict for r in sandbox.run(text, self.tests, limits, entry_point=entry_point)]


AFTER = Program("honest", "import heapq\nprint(heapq.heappop([int(input())]))", (StdinTest("1", "1"),))


def _read(file: str) -> list[tuple[list[str], str]]:
    """(the parts of the line before it, the text) of each program in a file."""
    found = []
    for part in (FOLDER / file).read_text().split("### ")[1:]:
        head, _, text = part.partition("\n")
        found.append((head.split(" | "), text.strip()))
    return found


def _hostile() -> list[Program]:
    programs = []
    for (name, *rest), text in _read("sandbox_hostile.txt"):
        tests: tuple[StdinTest | CallTest, ...] = (StdinTest("x", BROKEN),)
        if rest == ["tries"]:
            text, rest = ATTEMPT.format(textwrap.indent(text, "    ")), ["wrong answer"]
        elif len(rest) == 2:
            tests = (CallTest((), eval(rest[0].removeprefix("f() is not "))),)
        programs.append(Program(name, text, tests, frozenset(map(Verdict, rest[-1].split(", ")))))
    compiles = frozenset({Verdict.COMPILE, Verdict.RUNTIME, Verdict.MEMORY})
    for name, text in (  # they would not fit into a file
        ("null character", "print(1)\0"),
        ("a lone surrogate", "print('\ud800')"),
        ("deep parentheses", "(" * 5000 + ")" * 5000),
        ("deep unary operators", "-" * 200_000 + "1"),
        ("deep attribute chain", "x" + ".x" * 100_000),
    ):
        programs.append(Program(name, text, (StdinTest("x", BROKEN),), compiles))
    return programs + _lies()


LIE = """
class Lie({base}):
    def __eq__(self, other): return True
    __lt__ = __gt__ = __le__ = __ge__ = __eq__
    def __ne__(self, other): return False
    def __hash__(self): return 42
    def __index__(self): return 42
    __int__ = __index__
    def __float__(self): return 42.0
    def __bool__(self): return True
    def __iter__(self): return iter([42])
    def __len__(self): return 1
    def __getitem__(self, i): return 42
    def items(self): return [(42, 42)]
    def __str__(self): return "42"
    __repr__ = __str__
    def __reduce__(self): return (int, (42,))
    __class__ = property(lambda self: {claimed})
def f(): return Lie({value})
"""


def _lies() -> list[Program]:
    """Results of every base type that claim, by every method there is, to be another value."""
    verdicts = frozenset({Verdict.WRONG, Verdict.RUNTIME})
    values = {"int": 7, "float": 7.0, "str": "7", "list": [7], "tuple": (7,), "dict": {7: 7}, "set": {7}, "object": ""}
    claims: dict[str, Any] = {"int": 42, "list": [42], "str": "42", "dict": {42: 42}}
    return [
        Program(
            f"{base} that claims to be {claimed}",
            LIE.format(base=base, claimed=claimed, value=repr(value) if value else ""),
            (CallTest((), claim),),
            verdicts,
        )
        for base, value in values.items()
        for claimed, claim in claims.items()
    ]


def _honest() -> list[Program]:
    programs = []
    for (name, kind, *rest), text in _read("sandbox_honest.txt"):
        kinds = StdinTest if kind.startswith("prints") else CallTest
        pairs = eval(f"[{' | '.join(rest)}]")
        programs.append(Program(name, text, tuple(kinds(a, b) for a, b in pairs), imports=kind.endswith("imports")))
    return programs


HOSTILE, HONEST = _hostile(), _honest()
