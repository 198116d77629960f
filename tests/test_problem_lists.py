"""Lists of problems that are made when asked for."""

from __future__ import annotations

import pickle
from functools import partial
from random import Random

import pytest

from vpo_envs.problem_lists import GeneratedProblems, check_whole, split_of


def make(text: str, index: int) -> list[str]:
    return [f"{text} {index}"]


def test_problems_are_made_once_while_they_are_kept() -> None:
    problems = GeneratedProblems(10**9, partial(make, "maze"), cached=4)
    first = problems[0]
    assert first == ["maze 0"]
    for i in range(10**9 - 6, 10**9):
        assert problems[i] is problems[i]
    assert len(problems._made) == 4
    assert problems[0] == first
    assert problems[0] is not first


@pytest.mark.parametrize("index", [-1, 3, 10**12])
def test_an_index_outside_is_an_error(index: int) -> None:
    with pytest.raises(IndexError, match=f"problem {index} of 3"):
        GeneratedProblems(3, partial(make, "x"))[index]


def test_a_list_pickles_without_what_it_made() -> None:
    problems = GeneratedProblems(10**6, partial(make, "x"))
    small = len(pickle.dumps(problems))
    for i in range(1000):
        problems[i]
    assert len(pickle.dumps(problems)) == small
    assert pickle.loads(pickle.dumps(problems))[7] == ["x 7"]
    assert problems[:2] == [["x 0"], ["x 1"]]


def test_about_an_eighth_of_all_contents_are_for_testing() -> None:
    contents = [str(Random(i).random()) for i in range(4000)]
    share = sum(split_of(c) == "test" for c in contents) / len(contents)
    assert 0.10 < share < 0.15
    assert [split_of(c) for c in contents[:50]] == [split_of(c) for c in contents[:50]]


@pytest.mark.parametrize("value", [True, 0, 10, 2.0, "3", None])
def test_a_number_out_of_range_is_named(value: object) -> None:
    with pytest.raises(ValueError, match="MuSiQue: hops must be a whole number from 1 to 9, not"):
        check_whole("MuSiQue: hops", value, 1, 9)
