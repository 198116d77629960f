"""Generated questions: consistent, with one answer, in one split, and reached only through the chain."""

from __future__ import annotations

import json
import pickle
import re
from collections import Counter
from random import Random

import pytest
from helpers import outputs_under_hash_seeds
from musique_helpers import asked_in, facts_of

from vpo_envs.musique import MuSiQueTask, Problem
from vpo_envs.musique.generator import SHAPES
from vpo_envs.musique.names import NAME_WORDS, Names, spellings
from vpo_envs.musique.problems import problem_of, row_of
from vpo_envs.musique.relations import RELATIONS, fill, read_all
from vpo_envs.problem_lists import split_of

LAPTOP = {"num_paragraphs": 8, "hops": (2, 3), "sentences": 1}
DIFFICULTIES = [
    LAPTOP,
    {},
    {"num_paragraphs": 3, "hops": 2, "sentences": 1},
    {"num_paragraphs": 5, "hops": 4, "sentences": 2},
    {"num_paragraphs": 30, "hops": [4, 2], "sentences": 3},
]
every_difficulty = pytest.mark.parametrize("arguments", DIFFICULTIES, ids=str)


def problems(split: str = "test", number: int = 100, **arguments) -> list[Problem]:
    task = MuSiQueTask(split, num_problems=number, **arguments)
    return [task[i] for i in range(number)]


def references(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Which hops' answers each hop asks about."""
    return tuple(tuple(int(n) for n in re.findall(r"#(\d)", hop.question)) for hop in problem.hops)


@every_difficulty
def test_following_the_hops_over_all_documents_gives_one_answer(arguments):
    for problem in problems(**arguments):
        stated = facts_of(problem)
        found: list[str] = []
        for hop in problem.hops:
            relation, subjects, _ = asked_in(hop.question)
            known = tuple(found[int(s[1:]) - 1] if s.startswith("#") else s for s in subjects)
            matches = [(i, fact[2]) for i, fact in stated if fact[:2] == (relation, known)]
            assert matches == [(hop.paragraph, hop.answer)]
            found.append(matches[0][1])
        assert problem.answers[0] == found[-1]


@every_difficulty
def test_documents_do_not_contradict_each_other(arguments):
    for problem in problems(**arguments):
        facts = [fact for _, fact in facts_of(problem)]
        assert max(Counter(fact[:2] for fact in facts).values()) == 1, "two objects of one relation, or one said twice"
        leads_to: dict[str, set[str]] = {}
        for _, subjects, found in facts:
            for subject in subjects:
                leads_to.setdefault(subject, set()).add(found)
        while leads_to:  # take away what leads nowhere until nothing is left: then there is no circle
            ends = [name for name, nexts in leads_to.items() if not any(n in leads_to for n in nexts)]
            assert ends, leads_to
            for name in ends:
                del leads_to[name]


@every_difficulty
def test_a_name_is_of_one_kind_only(arguments):
    kinds = {r.label: r for r in RELATIONS}
    for problem in problems(number=30, **arguments):
        kind: dict[str, str] = {}
        for _, (label, subjects, found) in facts_of(problem):
            for name, expected in zip((*subjects, found), (*kinds[label].subjects, kinds[label].object), strict=True):
                assert kind.setdefault(name, expected) == expected


@every_difficulty
def test_the_question_names_where_hops_begin_and_nothing_that_they_find(arguments):
    for problem in problems(**arguments):
        named = {n for hop in problem.hops for n in asked_in(hop.question)[1] if not n.startswith("#")}
        assert all(name in problem.question for name in named)
        assert not any(hop.answer in problem.question for hop in problem.hops)
        assert not any(alias in problem.question for alias in problem.answers)
        assert problem.question.endswith("?")
        assert "#" not in problem.question


@every_difficulty
def test_paragraphs_are_as_many_and_as_long_as_asked_for_and_about_their_title(arguments):
    for problem in problems(number=50, **arguments):
        expected = {"num_paragraphs": 20, "sentences": 2} | arguments
        assert len(problem.texts) == len(problem.titles) == expected["num_paragraphs"]
        stated = facts_of(problem)
        lengths = Counter(i for i, _ in stated)
        for i, title in enumerate(problem.titles):  # the relations of one title may run out in its second paragraph
            assert lengths[i] == expected["sentences"] or problem.titles.count(title) > 1 <= lengths[i]
        assert all(fact[1][0] == problem.titles[i] for i, fact in stated)


@every_difficulty
def test_distractors_share_an_entity_or_a_relation_with_the_chain(arguments):
    for problem in problems(number=50, **arguments):
        support = {hop.paragraph for hop in problem.hops}
        assert len(support) == len(problem.hops)
        stated = facts_of(problem)
        chain = [fact for i, fact in stated if i in support]
        relations = {label for label, *_ in chain}
        names = {name for _, subjects, found in chain for name in (*subjects, found)}
        for i in set(range(len(problem.texts))) - support:
            own = [fact for j, fact in stated if j == i]
            assert any(label in relations or names & {*subjects, found} for label, subjects, found in own)


def test_distractors_are_of_every_kind():
    """A namesake, another fact about the same entity, the same object of another subject: each in many problems."""
    seen = Counter()
    for problem in problems("train", 200, **LAPTOP):
        stated = facts_of(problem)
        support = {hop.paragraph for hop in problem.hops}
        chain = [fact for i, fact in stated if i in support]
        others = [fact for i, fact in stated if i not in support]
        last_words = {name.split()[-1] for _, subjects, _ in chain for name in subjects if " " in name}
        seen["namesake"] += any(
            name.split()[-1] in last_words and name not in [n for f in chain for n in f[1]]
            for _, subjects, _ in others
            for name in subjects
        )
        seen["same subject"] += any(set(fact[1]) & set(gold[1]) for fact in others for gold in chain)
        seen["same object"] += any(fact[2] == gold[2] for fact in others for gold in chain)
        seen["wrong way goes on"] += any(a[2] in b[1] for a in others for b in others)
    assert all(seen[kind] > 60 for kind in ("namesake", "same subject", "same object", "wrong way goes on")), seen


@pytest.mark.parametrize("hops", SHAPES)
def test_every_graph_shape_occurs(hops):
    seen = Counter(references(p) for p in problems("train", 120, hops=hops, num_paragraphs=6, sentences=1))
    unordered = Counter(tuple(tuple(sorted(needs)) for needs in shape) for shape in seen.elements())
    assert set(unordered) == set(SHAPES[hops])
    assert min(unordered.values()) > 10


def test_no_hop_asks_for_the_capital_of_a_capital():
    for problem in problems("train", 200, num_paragraphs=6):
        asked = [asked_in(hop.question) for hop in problem.hops]
        for relation, subjects, _ in asked:
            assert relation not in [asked[int(s[1:]) - 1][0] for s in subjects if s.startswith("#")]


def test_every_relation_occurs_at_every_place():
    asked = [[asked_in(hop.question)[0] for hop in p.hops] for p in problems("train", 600, num_paragraphs=6)]
    labels = {r.label for r in RELATIONS}
    assert {label for chain in asked for label in chain} == labels
    assert {chain[-1] for chain in asked} == labels


def test_numbers_of_hops_take_turns():
    assert [len(p.hops) for p in problems(number=7)] == [2, 3, 4, 2, 3, 4, 2]
    assert [len(p.hops) for p in problems(number=4, hops=(4, 2))] == [2, 4, 2, 4]
    assert {len(p.hops) for p in problems(number=4, hops=3)} == {3}


def test_a_generated_problem_is_an_official_row():
    for arguments in DIFFICULTIES:
        for problem in problems(number=60, **arguments):
            official = json.loads(json.dumps(row_of(problem)))
            assert problem_of(official) == problem
            assert sum(p["is_supporting"] for p in official["paragraphs"]) == len(problem.hops)


@every_difficulty
def test_the_gold_answer_earns_everything(arguments):
    task = MuSiQueTask("test", num_problems=100, **arguments)
    chosen = [task[i] for i in range(100)]
    assert (task.score_batch(chosen, [task.gold(p) for p in chosen]) == 1).all()
    assert (task.score_batch(chosen, [task.gold(p).replace(p.answers[0], p.answers[-1]) for p in chosen]) == 1).all()


def test_no_question_is_in_both_splits():
    train = {p.question for p in problems("train", 3000, **LAPTOP)}
    test = {p.question for p in problems("test", 300, **LAPTOP)}
    assert not train & test
    assert {split_of(question) for question in train} == {"train"}  # so no other index can collide either
    assert {split_of(question) for question in test} == {"test"}
    assert len(train) > 2900


def test_knowing_the_training_problems_does_not_answer_the_test_problems():
    """The most frequent object of each (relation, subject) in training is seldom the one in a test problem."""
    known: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
    for problem in problems("train", 3000, **LAPTOP):
        for _, (label, subjects, found) in facts_of(problem):
            known.setdefault((label, subjects), Counter())[found] += 1
    hits = seen = 0
    for problem in problems("test", 200, **LAPTOP):
        for _, (label, subjects, found) in facts_of(problem):
            if (label, subjects) in known:
                seen += 1
                hits += known[label, subjects].most_common(1)[0][0] == found
    assert seen > 300
    assert hits < 0.03 * seen


def test_aliases_share_no_word_with_those_of_other_names():
    assert spellings("Bel Tosk", "person") == ("B. Tosk",)
    assert spellings("Grey Door", "work") == ("Grey-Door",)
    assert spellings("Marona", "place") == ()
    task = MuSiQueTask(num_problems=300, num_paragraphs=5)
    for i in range(300):
        names = task[i].answers
        assert all(re.findall(r"\w+", alias.lower())[0][0] == names[0][0].lower() for alias in names[1:])


def test_names_are_apart_from_punctuation_and_from_the_words_of_the_templates():
    for relation in RELATIONS:
        for template in (relation.question, relation.noun, *relation.statements):
            assert not re.search(r"\}[^ ]", template) or template == relation.noun
            assert not re.search(r"[^ ]\{", template)
            assert not set(re.findall(r"\w+", template)) & NAME_WORDS
        assert len(relation.statements) == 2
    assert len({r.label for r in RELATIONS}) == len(RELATIONS) == 16


PROGRAM = """
from random import Random
from vpo_envs.musique import MuSiQueTask
for arguments in ({}, {"num_paragraphs": 8, "hops": (2, 3), "sentences": 1}):
    for split in ("train", "test"):
        task = MuSiQueTask(split, **arguments)
        for i in range(20):
            print(task.messages(task[i], 3), task[i], task.demonstration(task[i], Random(i)))
"""


def test_a_problem_depends_on_nothing_but_the_arguments():
    prints = set(outputs_under_hash_seeds(PROGRAM))
    assert len(prints) == 1
    assert len(prints.pop()) > 10_000
    forwards, backwards = MuSiQueTask(), MuSiQueTask()
    assert [forwards[i] for i in range(10)] == [backwards[i] for i in reversed(range(10))][::-1]
    assert MuSiQueTask(hops=(3, 2))[5] == MuSiQueTask(hops=[2, 3, 3])[5]


def test_a_task_and_its_problems_pickle():
    task = MuSiQueTask("test", num_problems=10**9)
    copy = pickle.loads(pickle.dumps(task))
    assert len(copy) == 10**9
    assert copy[10**9 - 1] == task[10**9 - 1]
    assert pickle.loads(pickle.dumps(task[3])) == task[3]


def test_sizes_of_the_splits():
    assert len(MuSiQueTask("train")) == 1000
    assert len(MuSiQueTask("test")) == 100
    with pytest.raises(IndexError, match="question 7 of 7"):
        MuSiQueTask(num_problems=7)[7]
    with pytest.raises(IndexError, match="question -1 of 7"):
        MuSiQueTask(num_problems=7)[-1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"hops": 5}, "MuSiQue: hops must be 2 to 4, or several such numbers, not 5"),
        ({"hops": ()}, r"hops must be 2 to 4, or several such numbers, not \(\)"),
        ({"hops": (2, 1)}, "hops must be"),
        ({"hops": "23"}, "hops must be"),
        ({"hops": True}, "hops must be"),
        ({"hops": 2.0}, "hops must be"),
        ({"num_paragraphs": 4}, "MuSiQue: num_paragraphs must be a whole number from 5 to 30, not 4"),
        ({"num_paragraphs": 2, "hops": 2}, "num_paragraphs must be a whole number from 3 to 30, not 2"),
        ({"num_paragraphs": 31}, "num_paragraphs must be"),
        ({"num_paragraphs": "8"}, "num_paragraphs must be"),
        ({"sentences": 0}, "MuSiQue: sentences must be a whole number from 1 to 3, not 0"),
        ({"sentences": 4}, "sentences must be"),
        ({"names": 9}, "MuSiQue: names must be a whole number from 10 to 160, not 9"),
        ({"wordings": 3}, "MuSiQue: wordings must be a whole number from 1 to 2, not 3"),
        ({"num_problems": 0}, "MuSiQue: num_problems must be a whole number of at least 1, not 0"),
        ({"num_problems": True}, "num_problems must be"),
        ({"split": "dev"}, "split must be 'train' or 'test', not 'dev'"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        MuSiQueTask(**arguments)


@pytest.mark.parametrize("wordings", [1, 2])
def test_facts_are_stated_in_so_many_wordings(wordings):
    used = set()
    for problem in problems(number=60, wordings=wordings):
        for sentence, fact in (said for text in problem.texts for said in read_all(text)):
            stated = [fill(template, fact.subjects, fact.object) for template in fact.relation.statements]
            used.add(stated.index(sentence))
    assert used == set(range(wordings))


def test_few_names_are_enough_for_the_longest_documents():
    made = problems(number=30, names=10, num_paragraphs=30, sentences=3, hops=4)
    said = {word for p in made for text in (p.question, *p.titles, *p.texts) for word in re.findall(r"\w+", text)}
    assert len(said & NAME_WORDS) > 20


def test_an_alias_never_means_somebody_else_in_the_documents():
    names = Names(Random(0), 10)
    drawn = [names.fresh("person") for _ in range(60)]  # of 100: namesakes with one initial are among them
    means = [(alias, name) for name in drawn for alias in names.aliases(name)]
    assert len({alias for alias, _ in means}) == len(means)
    assert 0 < len(means) < len(drawn)


@pytest.mark.parametrize("names", [10, 12, 16, 48])
@pytest.mark.parametrize("num_paragraphs", [6, 12, 20, 30])
def test_names_never_run_out(names, num_paragraphs):
    for sentences in (1, 3):
        made = problems(
            number=5,
            names=names,
            num_paragraphs=num_paragraphs,
            sentences=sentences,
            hops=4 if num_paragraphs > 6 else 2,
        )
        assert all(len(p.texts) >= num_paragraphs for p in made)
