"""Comparing texts: SQuAD's normalisation and scores, on cases worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpo_envs.text_match import exact_match, multiset_f1, normalise, token_f1


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("The  Eiffel\tTower!", "eiffel tower"),
        ("a cat an ant the end", "cat ant end"),
        ("U.S.A.", "usa"),
        ("well-known", "wellknown"),
        ("Theatre Another", "theatre another"),
        ("１９９８", "1998"),
        ("Straße", "straße"),
        ("the", ""),
        ("cafe\u0301 ﬁn", "café fin"),
        ("", ""),
    ],
)
def test_normal_forms(text: str, form: str) -> None:
    assert normalise(text) == form
    assert normalise(form) == form


@pytest.mark.parametrize(
    ("text", "gold", "f1"),
    [
        ("the Claudia Wells", "Claudia Wells", 1.0),
        ("Claudia", "Claudia Wells", 2 / 3),
        ("Claudia Claudia", "Claudia Wells", 1 / 2),
        ("Claudia Wells or Elisabeth Shue", "Claudia Wells", 4 / 7),
        ("nobody", "Claudia Wells", 0.0),
        ("", "Claudia Wells", 0.0),
        ("the", "a", 1.0),
    ],
)
def test_token_f1(text: str, gold: str, f1: float) -> None:
    assert token_f1(text, gold) == pytest.approx(f1)
    assert token_f1(gold, text) == pytest.approx(f1)


def test_exact_match() -> None:
    assert exact_match("the United_States", "United States", underscores=True)
    assert not exact_match("the United_States", "United States")
    assert not exact_match("_", "the", underscores=True)
    assert not exact_match("", "")


def test_multiset_f1() -> None:
    assert multiset_f1(["a", "a", "b"], ["a", "b", "b"]) == pytest.approx(2 / 3)
    assert multiset_f1([], []) == 1
    assert multiset_f1(["a"], []) == 0


@given(st.text(), st.text())
@settings(max_examples=1000, deadline=None)
def test_any_two_texts_have_a_score(a: str, b: str) -> None:
    assert 0 <= token_f1(a, b) <= 1
    assert token_f1(a, b) == token_f1(b, a)
    assert (token_f1(a, b) == 1) == (sorted(normalise(a).split()) == sorted(normalise(b).split()))
    assert not exact_match(a, b) or token_f1(a, b) == 1


def test_a_hostile_run_of_accents_does_not_take_quadratic_time() -> None:
    # A minute and more if it did.
    assert len(normalise("a" + "\u0301\u0323" * 200_000)) > 1000
