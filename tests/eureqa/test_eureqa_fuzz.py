"""Any text has a score in [0, 1]^5, none above the solution's, and any row is a chain or a ValueError."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from eureqa_helpers import GOLD, ROW, answer_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vpo_envs.answers import without_reasoning
from vpo_envs.eureqa import Chain, EureqaTask
from vpo_envs.eureqa.chain import MAX_NAME, entity_elements, named_entities, normal_form
from vpo_envs.eureqa.problems import official_row, parse_row
from vpo_envs.scoring import score_responses

TASK = EureqaTask(countries=10, num_problems=20)
CHAINS = [parse_row(ROW), *(TASK[i] for i in range(20))]
FRAGMENTS = (
    *(f"<{end}entity_{x}>" for x in "ABCDEF" for end in ("", "/")),
    *("<think>", "</think>", "<solution_1>", "</solution_1>", "<solution_2>", "</solution_2>", "< Entity _ a >"),
    *(*GOLD, *CHAINS[1].entities, *CHAINS[2].entities, "euro", "the", "_", "</", "<", ">", "entity_A"),
    *("\n", "\x00", "ı", "ß", "\ud800", "\u2028", "\u202e", "e\u0301", "🙂", "ﬁ", "١"),
)
texts = st.one_of(
    st.text(),
    st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join),
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=5)), min_size=5, max_size=5).map(
        lambda names: answer_of(*names)
    ),
)


@given(text=texts, problem=st.integers(0, 20), num_answers=st.sampled_from([1, 2, 3]))
@settings(max_examples=1000, deadline=None)
def test_any_response_has_a_score(text, problem, num_answers):
    chain = CHAINS[problem]
    scored = score_responses(TASK, [chain], [text], num_answers)
    assert scored.rewards.shape == (1, num_answers, 5)
    assert set(scored.rewards.ravel().tolist()) <= {0.0, 1.0}
    assert not scored.rewards[~scored.answered].any()
    for answer, reward in zip(scored.answers[0], scored.rewards[0], strict=True):
        if answer is not None:
            assert np.array_equal(reward, TASK.score(chain, answer))
            assert TASK.extract(TASK.wrap(answer)) in (answer, None)
            hash(TASK.normalise(answer))


def names_by_the_book(answer: str) -> list[str]:
    """The definition, slowly: for each letter the last element that holds no other tag."""
    text, names = without_reasoning(answer), []
    tags = [
        (m.start(), m.end(), m[1], m[2].upper())
        for m in re.finditer(r"<\s{0,8}(/?)\s{0,8}entity\s{0,4}_\s{0,4}([A-E])\s{0,8}>", text, re.I | re.A)
    ]
    for letter in "ABCDE":
        name = ""
        for a, b in pairwise(tags):
            if (a[2], a[3], b[2], b[3]) == ("", letter, "/", letter):
                name = text[a[1] : b[0]].strip()
        names.append(normal_form(name) if len(name) <= MAX_NAME else "")
    return names


@given(text=texts)
@settings(max_examples=1000, deadline=None)
def test_names_are_found_as_the_definition_says(text):
    assert list(named_entities(text)) == names_by_the_book(text)
    assert dict(entity_elements(text)).keys() <= set("ABCDE")


@given(names=st.lists(st.sampled_from([*GOLD, *CHAINS[1].entities]), min_size=5, max_size=5))
@settings(max_examples=1000, deadline=None)
def test_only_the_solution_scores_all_ones(names):
    reward = TASK.score(CHAINS[0], answer_of(*names))
    assert reward.tolist() == [float(name == gold) for name, gold in zip(names, GOLD, strict=True)]


@given(texts=st.lists(texts, max_size=2), problem=st.integers(0, 20))
@settings(max_examples=1000, deadline=None)
def test_a_batch_is_scored_as_its_answers_are(texts, problem):
    batch = TASK.score_batch([CHAINS[problem]] * len(texts), texts)
    assert batch.shape == (len(texts), 5)
    for row, text in zip(batch, texts, strict=True):
        assert np.array_equal(row, TASK.score(CHAINS[problem], text))


@given(text=texts)
@settings(max_examples=1000, deadline=None)
def test_answers_with_one_normal_form_have_one_reward(text):
    again = " ".join(f"<entity_{x}>{name}</entity_{x}>" for x, name in zip("ABCDE", TASK.normalise(text), strict=True))
    for chain in CHAINS[:3]:
        assert np.array_equal(TASK.score(chain, again), TASK.score(chain, text))


scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
values = st.one_of(scalars, st.lists(scalars, max_size=7), st.dictionaries(st.text(max_size=5), scalars, max_size=3))
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
rows = st.fixed_dictionaries(
    {
        "question": st.one_of(values, st.just(ROW["question"]), st.lists(names, max_size=6)),
        "entity_masks": st.one_of(values, st.just(ROW["entity_masks"]), st.lists(names, min_size=5, max_size=7)),
        "entities": st.one_of(values, st.just(ROW["entities"]), st.lists(names, min_size=5, max_size=7)),
    }
)


@given(row=st.one_of(values, rows))
@settings(max_examples=1000, deadline=None)
def test_any_row_is_a_chain_or_an_error_that_names_a_field(row):
    try:
        chain = parse_row(row)
    except ValueError as error:
        chain = str(error)
    named = isinstance(chain, str) and re.match(r"field '(question|entity_masks|entities)|a row must be", chain)
    assert named or isinstance(chain, Chain)


@given(entities=st.lists(names, min_size=6, max_size=6, unique_by=normal_form))
@settings(max_examples=1000, deadline=None)
def test_a_row_that_is_accepted_can_be_solved(entities):
    row = ROW | {"entities": entities}
    try:
        chain = parse_row(row)
    except ValueError:
        assert any(not normal_form(name) or "<" in name or ">" in name for name in entities)
        return
    assert parse_row(official_row(chain)) == chain
    assert (TASK.score(chain, answer_of(*chain.forms)) == 1).all()
    assert (TASK.score(chain, TASK.gold(chain)) == 1).all()
    for num_answers in (1, 3):
        assert TASK.messages(chain, num_answers)
