"""Prompts ask for what is parsed, and demonstrations are well formed, careless and different."""

from __future__ import annotations

from random import Random

import pytest
from musique_helpers import row

from vpo_envs.answers import join_answers, split_response
from vpo_envs.musique import MuSiQueTask, Problem
from vpo_envs.musique.problems import problem_of
from vpo_envs.musique.relations import RELATIONS, fill, read, read_all
from vpo_envs.musique.rewards import read_answer

LAPTOP = MuSiQueTask(num_problems=1000, num_paragraphs=8, hops=(2, 3), sentences=1)
TASKS = {"laptop": LAPTOP, "default": MuSiQueTask(), "smallest": MuSiQueTask(num_paragraphs=3, hops=2, sentences=1)}


@pytest.mark.parametrize("name", TASKS)
def test_demonstrations_are_complete_answers_and_get_about_half_right(name):
    task, rng = TASKS[name], Random(0)
    chosen = [task[i // 10] for i in range(1000)]
    shown = [task.demonstration(problem, rng) for problem in chosen]
    assert all(read_answer(answer) is not None for answer in shown)
    rewards = task.score_batch(chosen, shown)
    perfect = (rewards == 1).all(axis=1).mean()
    assert 0.25 < perfect < (0.7 if name == "smallest" else 0.5)  # one distractor leaves little to be careless about
    assert all(0.5 < mean <= 1 for mean in rewards.mean(axis=0)[:4])
    assert 0.4 < rewards[:, 4].mean() < 0.9


def test_demonstrations_of_one_problem_differ_in_what_they_get_right():
    rng, vectors, keys = Random(0), [], []
    for i in range(100):
        shown = [LAPTOP.demonstration(LAPTOP[i], rng) for _ in range(6)]
        vectors.append(len({tuple(LAPTOP.score(LAPTOP[i], answer)) for answer in shown}))
        keys.append(len({LAPTOP.normalise(answer) for answer in shown}))
    assert sum(vectors) / 100 > 2.5
    assert sum(n >= 3 for n in keys) > 75


def test_a_demonstration_quotes_each_step_and_where_it_is_found():
    problem, rng = LAPTOP[0], Random(0)
    perfect = next(d for d in iter(lambda: LAPTOP.demonstration(problem, rng), "") if LAPTOP.score(problem, d).all())
    *lines, last = perfect.splitlines()
    for line, hop in zip(lines, problem.hops, strict=True):
        quote = line.removeprefix(f"- {problem.titles[hop.paragraph]} [{hop.paragraph}] - ")
        assert quote in problem.texts[hop.paragraph]
        assert hop.answer in quote
    cited = " ".join(f"[{hop.paragraph}]" for hop in problem.hops)
    assert last == f"<support> {cited}</support><answer> {problem.answers[0]}</answer>"


def test_demonstrations_of_questions_in_free_text():
    problem, rng = problem_of(row()), Random(0)
    shown = {LAPTOP.demonstration(problem, rng) for _ in range(200)}
    assert {tuple(LAPTOP.score(problem, answer)) for answer in shown} >= {(1, 1, 1, 1, 1), (0, 1, 1, 1, 1)}
    assert any("[0] - Where was Ada Roe born? Low Town" in answer for answer in shown)


def test_a_problem_of_which_nothing_can_be_made_still_has_a_demonstration():
    real = problem_of(row())
    blank = ("",) * len(real.titles)
    problem = Problem("?", blank, blank, real.hops, ("x",))
    assert read_answer(LAPTOP.demonstration(problem, Random(0))) is not None


def test_sets_of_demonstrations_come_apart_again():
    rng = Random(1)
    answers = list(dict.fromkeys(LAPTOP.demonstration(LAPTOP[0], rng) for _ in range(9)))[:3]
    assert len({LAPTOP.normalise(a) for a in answers}) == 3
    assert split_response(LAPTOP, join_answers(LAPTOP, answers), 3) == answers
    assert split_response(LAPTOP, join_answers(LAPTOP, answers[:1]), 1) == answers[:1]


def test_statements_and_questions_are_read_back():
    for relation in RELATIONS:
        subjects = ("Bel Tosk", "Marona")[: len(relation.subjects)]
        for statement in relation.statements:
            sentence = fill(statement, subjects, "Grey Door")
            assert list(read_all(sentence)) == [(sentence, (relation, subjects, "Grey Door"))]
        references = ("#1", "#2")[: len(relation.subjects)]
        assert read(fill(relation.question, references)) == (relation, references, "")
    for other in ("", "{} has {} as its author.", "Rome has Virgil as its author.", "Bel Tosk has as its author."):
        assert read(other) is None


def test_the_prompt_shows_the_question_and_every_numbered_paragraph_and_asks_for_what_is_parsed():
    problem = LAPTOP[0]
    for m, tags in ((1, ("<support>", "</answer>")), (3, ("<support>", "</answer>", "<response_1>", "</response_3>"))):
        [message] = LAPTOP.messages(problem, m)
        lines = message["content"].splitlines()
        assert lines[0] == f"Question: {problem.question}"
        for i, (title, text) in enumerate(zip(problem.titles, problem.texts, strict=True)):
            assert lines[2 + i] == f"- {title} [{i}] - {text}"
        assert all(tag in message["content"] for tag in tags)
        assert "<response_1>" not in message["content"] or m > 1
    [message] = LAPTOP.messages(problem, 1, [0.5, 0.25, 0.25, 0, 0])
    assert message["content"].endswith("hop_1 50%, hop_2 25%, hop_3 25%, hop_4 0%, answer_f1 0%.")


def test_a_response_that_copies_the_prompt_earns_next_to_nothing():
    for i in range(20):
        for m in (1, 3):
            [message] = LAPTOP.messages(LAPTOP[i], m)
            [answer] = split_response(LAPTOP, message["content"], 1)  # the example: paragraphs 3 and 7, answer "..."
            assert LAPTOP.score(LAPTOP[i], answer or "")[4] == 0
