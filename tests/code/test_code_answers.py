"""Which part of a response is the program, and which programs are the same."""

from __future__ import annotations

from random import Random

import pytest
from code_helpers import SUM, stdin_problem

from vpo_envs.answers import join_answers, split_response
from vpo_envs.code import CodeTask
from vpo_envs.code.answer_text import complete_program, find_program, same_program_key
from vpo_envs.code.livecodebench import PRELUDE

TASK = CodeTask(workers=1)
BLOCK = f"```python\n{SUM}\n```"
HELLO = 'print("hello")'


@pytest.mark.parametrize(
    "response",
    [
        BLOCK,
        f"Here it is:\n\n{BLOCK}\nIt adds two numbers.",
        f"```\n{SUM}\n```",
        f"```py\n{SUM}\n```",
        f"``` Python3 title\n{SUM}\n```  ",
        f"~~~python\n{SUM}\n~~~",
        f"````python\n{SUM}\n````",
        f"```python\nprint(0)\n```\nNo, better:\n{BLOCK}",  # the last one counts
        f"```\nprint(0)\n```\n{BLOCK}",
        f"{BLOCK}\nIt prints\n```\n3\n```",  # a block of Python goes before one without a language
        f"{BLOCK}\n```text\n3\n```\n```cpp\nint main() {{}}\n```",
        f"{BLOCK}\n```python\nprint(1",  # a block that is cut off is none
        f"{BLOCK}\n```python\n\n```",
        f"```python\nprint(0)\n{BLOCK}",  # the first one has no end, and a language begins a new block
        f"- So:\n\n  ```python\n  {SUM.replace(chr(10), chr(10) + '  ')}\n  ```",  # as an item of a list
        f"<think>```python\nprint(0)\n```</think>\n{BLOCK}",
        f"{BLOCK}<think>Was that right?\n```python\nprint(0)\n```</think>",
        f"print(0) would be short.</think>{BLOCK}",
        SUM,
        f"<think>Easy.</think>\n{SUM}".replace("</think>\n", "</think>"),
    ],
)
def test_the_program_is_found(response):
    assert TASK.extract(response) == SUM


@pytest.mark.parametrize(
    "response",
    [
        "",
        " \n",
        "I do not know.",
        "Yes",
        "42",
        "Answer: none",
        '"""A program"""',
        "# print(1)",
        f"```python\n{SUM}",
        f"```cpp\n{SUM}\n```",
        "```python\n```",
        "```python\n \n```",
        f"``{SUM}``",
        f"The program {SUM} does it.",
        f"<think>{BLOCK}</think>",
        f"<think>{BLOCK}",
        f"Here: ```python {SUM} ```",
        "print(1",
        "\ud800",
        "x\x00y",
    ],
)
def test_no_program(response):
    assert TASK.extract(response) is None
    assert not TASK.is_answer(response)


@pytest.mark.parametrize("program", [HELLO, "x = 1", "import sys", "def f(): ...", "    return 1", "f(1)", "pass"])
def test_a_bare_program_is_an_answer(program):
    assert TASK.extract(program) == program
    assert TASK.is_answer(program)


@pytest.mark.parametrize(
    "program",
    [SUM, SUM + "\n", "\n" + SUM, "x = '''\n```\n~~~\n````python\n'''", "x = '`'", "def f(:", "\t\n x", "é = '👍🏽'"],
)
def test_what_is_wrapped_is_found_again(program):
    assert TASK.extract(TASK.wrap(program)) == program


def test_several_answers_are_blocks_or_bare():
    response = (
        f"First:\n<solution_1>{BLOCK}</solution_1>\n<solution_2>\n{HELLO}\n</solution_2>"
        "<solution_3>I give up.</solution_3><solution_4>```python\nprint(\n```</solution_4>"
    )
    answers = split_response(TASK, response, 5)
    assert answers == [BLOCK, f"\n{HELLO}\n", None, "```python\nprint(\n```", None]
    assert split_response(TASK, join_answers(TASK, [SUM, HELLO]), 2) == [SUM, HELLO]


def test_equal_programs_count_once():
    again = "#!/usr/bin/python\n" + SUM.replace("+", " +   ").replace("\n", "  # two\n\n\n") + "\n# done"
    answers = [SUM, again, f"```python\n{again}\n```", SUM.replace("a + b", "b + a"), SUM.replace("a", "x")]
    assert [a is not None for a in split_response(TASK, join_answers(TASK, answers), 5)] == [1, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x=1", "x = 1  # one", True),
        ("f(a,\n  b)", "f(a, b)", True),
        ("x = 'a'", 'x = "a"', True),
        ("x = 10", "x = 0xA", True),
        ("if x:\n  y()", "if x:\n\ty()", True),
        ("  x = 1\n", "x = 1", True),
        ("    y()\n# why not\n    return x", "y()\nreturn x", True),
        ("  x\nelse:\n  y()", "  x", False),
        ("x = 'a b'", "x = 'a  b'", False),
        ("x = 1", "x = 1.0", False),
        ("x = 1", "x = True", False),
        ("f(a, b)", "f(b, a)", False),
        ("if x:\n  y()\nz()", "if x:\n  y()\n  z()", False),
        ("print(1", "print( 1", False),  # neither parses, so they are text
        ("print(1 ", "print(1\n", True),
        ("x = 'A'", "x = 'a'", False),
    ],
)
def test_which_programs_are_the_same(one, other, same):
    assert (same_program_key(one) == same_program_key(other)) == same


DEEP = {
    "parentheses": "(" * 50_000 + ")" * 50_000,
    "brackets": "[" * 30_000,
    "unary": "x = " + "-" * 50_000 + "1",
    "sum": "x = 1" + "+1" * 30_000,
    "attributes": "x = a" + ".b" * 30_000,
    "calls": "f" + "()" * 30_000,
    "subscripts": "x = a" + "[0]" * 20_000,
    "else if": "if 1:\n pass\n" + "elif 1:\n pass\n" * 4_000,
    "blocks": "".join(" " * i + "if 1:\n" for i in range(300)),
    "lambdas": "x = " + "lambda: " * 8_000 + "1",
    "strings": "x = f" + '"{' * 20_000,
    "long": "x = 1\n" * 100_000,
    "number": "x = " + "9" * 60_000,
    "hexadecimal": "x = 0x" + "f" * 60_000,
    "null": "x = 1\x00",
    "surrogate": "x = '\ud800'",
    "targets": "x = " * 16_000 + "1",
    "fence": "```" + "a" * 60_000 + "`",
    "spaces": "```" + " " * 60_000 + "`",
    "backticks": "`" * 60_000 + "\n" + "~" * 60_000 + "`",
    "fences": "```python\n" * 6_000,
    "margins": (" " * 200 + "```\n") * 300,
    "escape": "x = '\\d'",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_hard_texts_have_a_key_and_are_told_apart_from_others(text, recwarn):
    key = same_program_key(text)
    assert key == same_program_key(text)
    assert key != same_program_key(text + "\ny = 2")
    hash(key)
    find_program(text)
    complete_program(text, "def f():\n    '''A function.'''\n", "f")
    assert not recwarn.list  # Python warns of an escape that it does not know


def test_the_usual_imports_run_before_a_program():
    assert complete_program(SUM, PRELUDE, None) == PRELUDE + SUM
    assert complete_program("  x = 1\n  y = 2", PRELUDE, None) == PRELUDE + "x = 1\ny = 2"
    future = '"""Doc."""\nfrom __future__ import annotations\nx: int = 1'
    assert complete_program(future, PRELUDE, None) == future
    assert complete_program("print(1", "", None) == "print(1"
    namespace: dict = {}
    exec(PRELUDE, namespace)
    assert {"List", "deque", "bisect_left", "inf", "heapq", "bisect"} <= set(namespace)
    assert PRELUDE.count("\n") == 1


def test_the_prompt_asks_for_a_program():
    [message] = TASK.messages(stdin_problem(starter_code="import sys\n"))
    assert message["content"].splitlines() == [
        "Print the sum.",
        "",
        "Write a Python program that reads standard input and prints to standard output.",
        "It begins like this:",
        "```python",
        "import sys",
        "```",
        "It is run on several tests, and every test that it passes counts.",
        "Give it as one block, between a line ```python and a line ```.",
    ]


def test_the_prompt_asks_for_several_programs_and_weighs_only_real_tests():
    weights = [0.1] * 2 + [0.2] * 1 + [0.6 / 13] * 13
    [message] = TASK.messages(stdin_problem(), 2, weights)
    asked, alone, counts = message["content"].splitlines()[-3:]
    assert asked.startswith("Give 2 programs")
    assert "<solution_2>" in asked
    assert alone == "Each is complete and stands alone."
    assert counts == "What counts: test_1 25%, test_2 25%, test_3 50%."
    [message] = TASK.messages(stdin_problem(), 1, [0.0] * 3 + [1 / 13] * 13)
    assert message["content"].endswith("What counts: test_1 0%, test_2 0%, test_3 0%.")


def test_demonstrations_are_the_reference_or_a_partial_solution():
    problem = stdin_problem(reference=SUM, partial=("print(3)", "print(0)"))
    drawn = [TASK.demonstration(problem, Random(i)) for i in range(400)]
    assert set(drawn) == {SUM, "print(3)", "print(0)"}
    assert 0.4 < drawn.count(SUM) / 400 < 0.6
    assert TASK.demonstration(stdin_problem(reference=SUM), Random(0)) == SUM
    with pytest.raises(ValueError, match="no correct program is known for problem sum"):
        TASK.demonstration(stdin_problem(), Random(0))
