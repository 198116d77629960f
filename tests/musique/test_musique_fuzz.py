"""Any text has a score, no text beats the gold answer, and any row is a problem or a named fault."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from musique_helpers import row

from vpo_envs.data_files import load_problems
from vpo_envs.musique import MuSiQueTask
from vpo_envs.musique.problems import problem_of, row_of
from vpo_envs.musique.relations import read, read_all
from vpo_envs.musique.rewards import best_f1, citations, read_answer
from vpo_envs.scoring import score_responses
from vpo_envs.text_match import token_f1, tokens

TASK = MuSiQueTask(num_problems=12, num_paragraphs=6)
NAMES = sorted({name for i in range(12) for name in TASK[i].titles + TASK[i].answers})
FRAGMENTS = (
    *("<answer>", "</answer>", "<support>", "</support>", "<think>", "</think>", "< ANSWER >", "</ support >"),
    *("<response_1>", "</response_1>", "<response_02>", "</response_2>", "<response_", "<", "</", ">", "_"),
    *("0", "1, 2", " 3", "4 5", "007", "9" * 30, "-", "٣", "²", "\n", " ", "\x00", "ı", "ß", "\ud800", "\u2028", "é"),
    *("e\u0301", "\ufdfa", "🦉", "שלום", "the", "A", "#1", "{}", *NAMES[:20]),
)
texts = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))
contents = st.lists(st.sampled_from([*NAMES[:20], *"0123456789,-", *FRAGMENTS[-14:]]), max_size=6).map(" ".join)
answers = st.builds("{}<support>{}</support><answer>{}</answer>".format, *[contents] * 3)
few = settings(max_examples=300, deadline=None)
fuzz = settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(text=st.one_of(texts, answers), index=st.integers(0, 11), num_answers=st.sampled_from([1, 2, 3]))
@fuzz
def test_any_response_has_a_score_and_none_beats_gold(text, index, num_answers):
    problem = TASK[index]
    gold = TASK.score(problem, TASK.gold(problem))
    scored = score_responses(TASK, [problem], [text], num_answers)
    assert scored.rewards.shape == (1, num_answers, 5)
    assert ((scored.rewards >= 0) & (scored.rewards <= gold)).all()
    assert not scored.rewards[~scored.answered].any()
    for answer, reward in zip(scored.answers[0], scored.rewards[0], strict=True):
        if answer is not None:
            assert answer in text
            assert np.array_equal(reward, TASK.score(problem, answer))


@given(text=st.one_of(texts, answers))
@fuzz
def test_reading_an_answer(text):
    read_back = read_answer(text)
    assert (TASK.extract(text) is None) == (read_back is None)
    assert TASK.extract(TASK.wrap(text)) in (None, text)
    assert hash(TASK.normalise(text)) is not None
    if read_back is not None:
        assert read_back.text.strip()
        assert read_back.text in text or "think" in text.lower()  # a thought may be cut out of the middle
        assert len(read_back.cited) <= 4


@given(pairs=st.lists(st.tuples(st.integers(0, 11), st.one_of(texts, answers)), max_size=3))
@fuzz
def test_a_batch_is_scored_like_its_members(pairs):
    problems, shown = [TASK[i] for i, _ in pairs], [text for _, text in pairs]
    batch = TASK.score_batch(problems, shown)
    assert batch.shape == (len(pairs), 5)
    assert batch.dtype == np.float32
    assert all(np.array_equal(b, TASK.score(p, t)) for b, p, t in zip(batch, problems, shown, strict=True))


@given(text=contents)
@fuzz
def test_citations_against_a_slow_reference(text):
    digits = "".join(c if c in "0123456789" else " " for c in text).split()
    numbers = list(dict.fromkeys(int(d) for d in digits))
    assert [int(c) for c in citations(text)] == numbers[:4]


@given(said=contents.map("x{}".format), golds=st.lists(contents.map("{}x".format), min_size=1, max_size=2))
@fuzz
def test_f1_against_a_slow_reference(said, golds):
    assert best_f1(said, tuple(golds)) == pytest.approx(max(token_f1(said, gold) for gold in golds))
    assert best_f1(golds[-1], tuple(golds)) == 1


@given(one=answers, shuffled=st.randoms(use_true_random=False), index=st.integers(0, 11))
@few
def test_answers_that_are_the_same_earn_the_same(one, shuffled, index):
    found = read_answer(one)
    if found is None:
        return
    cited, said = list(found.cited), found.text.split()
    shuffled.shuffle(cited)
    other = f"<support>{', '.join(cited)}</support><answer>  {'  '.join(said)} </answer>"
    if TASK.normalise(other) == TASK.normalise(one):
        assert np.array_equal(TASK.score(TASK[index], other), TASK.score(TASK[index], one))


@given(padding=st.lists(st.sampled_from(NAMES), min_size=1, max_size=30), index=st.integers(0, 11))
@few
def test_padding_an_answer_costs_f1(padding, index):
    problem = TASK[index]
    extra = [name for name in padding if not Counter(tokens(name)) & Counter(tokens(" ".join(problem.answers)))]
    padded = f"{problem.answers[0]} {' '.join(extra)}"
    assert (best_f1(padded, problem.answers) < 1) == bool(extra)


@given(text=texts)
@fuzz
def test_any_text_may_be_read_for_facts(text):
    assert read(text) is None or len(read(text).subjects) >= 1
    for sentence, fact in read_all(text):
        assert sentence in text
        assert len(fact.subjects) == len(fact.relation.subjects)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from([0, 1, 2, "\ud800"])),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(list(row())), inner)),
    max_leaves=6,
)


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """The path of every value inside a row."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for key, child in children for p in places(child, (*path, key)))]


PLACES = places(row())  # the row itself is the first


@given(value=json_values, place=st.sampled_from(PLACES), remove=st.booleans())
@fuzz
def test_any_row_is_a_problem_or_a_fault_that_names_a_field(value, place, remove):
    holder: Any = {"row": row()}
    parent, key = holder, "row"
    for step in place:
        parent, key = parent[key], step
    if remove and place:
        del parent[key]
    else:
        parent[key] = value
    try:
        [problem] = load_problems("somewhere", [(7, holder["row"])], problem_of)
    except ValueError as error:
        assert re.search(r"^somewhere: 1 bad row\(s\) of 1[\s\S]*row 7: (field '\w+|a row must)", str(error))  # noqa: PT017
    else:
        assert problem_of(row_of(problem)) == problem
        assert (TASK.score(problem, TASK.gold(problem)) == 1).all()
