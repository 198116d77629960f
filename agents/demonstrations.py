"""Demonstrations as training examples, and how good they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import count
from random import Random
from typing import Any

import numpy as np

from vpo_envs.answers import join_answers
from vpo_envs.metrics import objective_correlation, solved
from vpo_envs.task import Message, Task

CANDIDATES = 2  # demonstrations drawn for each answer of a set
PATIENCE = 1000  # problems in a row without such a set, after which a task is given up


def examples(
    task: Task[Any], rng: Random, num_answers: int, start: int = 0, weighted: float = 0.0
) -> Iterator[tuple[list[Message], str]]:
    """Endless (messages, response) pairs: problem start, start + 1 ... answered with demonstrations that differ.

    A share `weighted` of the prompts asks for random weights, uniform on the simplex, which the demonstrations do not
    heed: they teach to read such prompts, not to obey them.

    Raises:
        ValueError: the demonstrations of all of the task's problems (of 1000, if it has more) are too much alike.
    """
    patience, in_vain = min(len(task), PATIENCE), 0
    for index in count(start):
        if in_vain == patience:
            raise ValueError(
                f"{type(task).__name__}: of {CANDIDATES * num_answers} demonstrations of a problem never {num_answers} "
                f"differed, in {patience} problems; make them more varied, or ask for fewer answers"
            )
        problem = task[index % len(task)]
        drawn: dict[Hashable, str] = {}
        for _ in range(num_answers if num_answers == 1 else CANDIDATES * num_answers):
            answer = task.demonstration(problem, rng)
            drawn.setdefault(task.normalise(answer), answer)
        in_vain += 1
        if len(drawn) >= num_answers:
            in_vain = 0
            answers = spread(list(drawn.values()), num_answers)
            weights = None
            if weighted and rng.random() < weighted:
                variates = [rng.expovariate(1.0) * real for real in task.objective_mask(problem).tolist()]
                weights = [v / sum(variates) for v in variates]
            yield task.messages(problem, num_answers, weights), join_answers(task, answers)


def spread(texts: list[str], number: int) -> list[str]:
    """Texts that differ: the first one, then always the one whose words are farthest from all that were chosen.

    Distance is Jaccard's, 1 - |common words| / |all words|, to the nearest chosen text. A policy that imitates such
    sets learns that an answer depends on those before it, which independent draws would not teach.
    """
    words = [frozenset(text.split()) for text in texts]
    chosen = [0]
    while len(chosen) < number:
        rest = [i for i in range(len(texts)) if i not in chosen]
        chosen.append(max(rest, key=lambda i: min(_distance(words[i], words[j]) for j in chosen)))
    return [texts[i] for i in chosen]


def _distance(a: frozenset[str], b: frozenset[str]) -> float:
    return 1 - len(a & b) / max(1, len(a | b))


def demonstration_facts(task: Task[Any], problems: int = 200, draws: int = 8, seed: int = 0) -> dict[str, Any]:
    """What demonstrations earn: `draws` of them for each of the first `problems` problems.

    Returns:
        `mean`: of every objective, over the problems that have it; `perfect`: share of demonstrations that earn
        everything; `no_perfect`: share of problems where none of the draws does; `correlation` (k, k) of the objectives
        within a problem, None for an objective that never varies.
    """
    rng = Random(seed)
    chosen = [task[i] for i in range(min(problems, len(task)))]
    asked = [problem for problem in chosen for _ in range(draws)]
    scores = task.score_batch(asked, [task.demonstration(problem, rng) for problem in asked])
    rewards = scores.reshape(len(chosen), draws, task.reward_dim)
    masks = np.stack([task.objective_mask(p) for p in chosen])  # (problems, k)
    perfect = solved(rewards, masks)
    correlation = objective_correlation(rewards).round(3)
    return {
        "problems": len(chosen),
        "draws": draws,
        "mean": {
            o.name: round(float(rewards[masks[:, i], :, i].mean()), 3)
            for i, o in enumerate(task.objectives)
            if masks[:, i].any()
        },
        "perfect": round(float(perfect.mean()), 3),
        "no_perfect": round(float(1 - perfect.any(1).mean()), 3),
        "correlation": [[None if np.isnan(v) else float(v) for v in row] for row in correlation],
    }
