"""The text space holds any Unicode, is cheap to pickle, and samples reproducibly."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from vpo_envs.spaces import UnicodeText


@pytest.mark.parametrize("text", ["", "plain", "迷路 🧭 \u202e", "\x00\ud800", "\n\t", "x" * 10])
def test_it_contains_every_string_up_to_its_length(text: str) -> None:
    assert text in UnicodeText(10)


@pytest.mark.parametrize("other", ["x" * 11, b"bytes", 3, None, ["a"]])
def test_it_contains_nothing_else(other: Any) -> None:
    assert other not in UnicodeText(10)


def test_samples_are_members_and_follow_from_the_seed() -> None:
    a, b = UnicodeText(5), UnicodeText(5)
    a.seed(1)
    b.seed(1)
    samples = [a.sample() for _ in range(50)]
    assert samples == [b.sample() for _ in range(50)]
    assert all(s in a for s in samples)
    assert {len(s) for s in samples} == set(range(6))


def test_sampling_a_huge_space_stays_cheap() -> None:
    assert max(len(UnicodeText().sample()) for _ in range(20)) <= 256


def test_it_pickles_small_and_compares_by_length() -> None:
    space = UnicodeText(10)
    data = pickle.dumps(space)
    assert len(data) < 10_000
    assert pickle.loads(data) == space != UnicodeText(11)
    assert repr(space) == "UnicodeText(10)"
