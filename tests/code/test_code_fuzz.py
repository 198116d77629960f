"""Any text at all can be read, any row is a problem or a fault, and nothing but a text comes out of a pickle."""

from __future__ import annotations

import ast
import base64
import contextlib
import json
import pickle
import zlib

import pytest
from code_helpers import SUM, call_case, call_row, human_row, pack_bytes, packed, stdin_case, stdin_row
from hypothesis import given, settings
from hypothesis import strategies as st

from vpo_envs.answers import join_answers, split_response
from vpo_envs.code import CodeTask
from vpo_envs.code.answer_text import complete_program, find_program, same_program_key
from vpo_envs.code.data_sets import parse_row
from vpo_envs.code.private_tests import unpack_text

TASK = CodeTask(workers=1)
FRAGMENTS = (
    *("```python\n", "```\n", "\n```", "```", "~~~\n", "````\n", "```cpp\n", "<think>", "</think>", "<solution_1>"),
    *("</solution_1>", "< SOLUTION_2 >", "</solution_2>", "<solution_03>", SUM, "x = 1", "print(1)", "def f(x):\n"),
    *(
        "    return x\n",
        "return",
        "\n",
        "    ",
        "\t",
        " ",
        "#",
        "'",
        '"""',
        "(",
        ")",
        "[",
        "{",
        "\\",
        "-",
        "lambda:",
        ":",
    ),
    *(
        "import os",
        "from __future__ import annotations\n",
        "é",
        "👍🏽",
        "\x00",
        "\ud800",
        "\u2028",
        "\r",
        "0x",
        "9" * 50,
    ),
)
texts = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))
preludes = st.sampled_from(["", "import math\n", "def f(x):\n    '''The same.'''\n"])
words = st.sampled_from(["", "1", "[1]", "nan", "{", '"a"', "é", "\ud800", "stdin", "functional", "[" * 2000])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
programs = st.lists(st.sampled_from(FRAGMENTS[14:]), min_size=1, max_size=8).map("".join)


@given(text=texts, prelude=preludes)
@settings(max_examples=1000, deadline=None)
def test_any_text_can_be_read(text, prelude):
    program = TASK.extract(text)
    assert program is None or (program.strip() and program == TASK.extract(TASK.wrap(program)))
    assert TASK.is_answer(text) == (program is not None)
    hash(TASK.normalise(text))
    for answer in split_response(TASK, text, 3):
        assert answer is None or answer in text
    assert isinstance(complete_program(text, prelude, "f"), str)


@given(text=texts)
@settings(max_examples=1000, deadline=None)
def test_white_space_and_comments_do_not_make_another_program(text):
    if find_program(text) == text:
        key = same_program_key(text)
        assert isinstance(key, tuple)  # of a syntax tree
        assert key == same_program_key(f"{text}\n# the end")
        assert key == same_program_key(f"\n\n{text}\n")


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
@given(one=programs, other=programs)
@settings(max_examples=1000, deadline=None)
def test_programs_are_the_same_if_their_syntax_trees_are(one, other):
    try:
        same = ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError):
        return
    assert (same_program_key(one) == same_program_key(other)) == same


@given(answers=st.lists(programs, min_size=2, max_size=4))
@settings(max_examples=1000, deadline=None)
def test_answers_that_are_joined_are_found_again(answers):
    joined = join_answers(TASK, answers)
    seen = set()
    for given_, found in zip(answers, split_response(TASK, joined, len(answers)), strict=True):
        if not TASK.is_answer(given_) or TASK.normalise(given_) in seen:
            assert found is None
        elif found is not None:
            assert found == given_
        seen.add(TASK.normalise(given_))


@given(value=values, protocol=st.integers(0, 5))
@settings(max_examples=1000, deadline=None)
def test_a_pickle_is_a_text_or_an_error(value, protocol):
    with contextlib.suppress(UnicodeEncodeError):
        pickled = pickle.dumps(value, protocol)
        try:
            assert unpack_text(pack_bytes(pickled)) == value
            assert isinstance(value, str)
        except ValueError:
            assert not isinstance(value, str) or "\ud800" in value


@given(text=st.text(), places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4))
@settings(max_examples=1000, deadline=None)
def test_damage_is_an_error_or_leaves_a_text(text, places):
    for layer in range(2):
        data = bytearray(pickle.dumps(text) if layer else zlib.compress(pickle.dumps(text)))
        for place, byte in places:
            data[place % len(data)] = byte
        damaged = pack_bytes(bytes(data)) if layer else base64.b64encode(bytes(data)).decode()
        with contextlib.suppress(ValueError):
            assert isinstance(unpack_text(damaged), str)


@given(text=st.text() | st.binary().map(lambda b: base64.b64encode(b).decode()) | st.binary().map(pack_bytes))
@settings(max_examples=1000, deadline=None)
def test_any_text_is_unpacked_or_an_error(text):
    with contextlib.suppress(ValueError):
        assert isinstance(unpack_text(text), str)


cases = st.lists(
    st.sampled_from([stdin_case("1 2", "3"), call_case(3, 1, 2), call_case([1]), {"input": "1"}, 5]) | values,
    max_size=3,
)
changes = st.fixed_dictionaries(
    {},
    optional={
        "question_content": values,
        "public_test_cases": st.one_of(values, cases.map(json.dumps), cases.map(packed)),
        "private_test_cases": st.one_of(values, cases.map(json.dumps), cases.map(packed), st.text()),
        "contest_date": values,
        "metadata": values | st.just('{"func_name": "f"}'),
        "starter_code": values,
    },
)
human_changes = st.fixed_dictionaries(
    {}, optional={name: values | texts for name in ("task_id", "prompt", "entry_point", "canonical_solution", "test")}
)
rows = st.one_of(
    values, st.builds(lambda c: stdin_row(**c), changes), st.builds(lambda c: call_row(**c), changes),
    st.builds(lambda c: human_row(**c), human_changes),
)  # fmt: skip


@given(row=rows)
@settings(max_examples=1000, deadline=None)
def test_any_row_is_a_problem_or_a_fault(row):
    with contextlib.suppress(ValueError):
        problem = parse_row(row)
        assert 1 <= problem.num_tests <= 16
        assert TASK.messages(problem, 2, [1 / 16] * 16)[0]["content"].isprintable is not None
