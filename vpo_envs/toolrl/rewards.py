"""The four components of the reward, from an answer that was read and the gold calls."""

from __future__ import annotations

from collections.abc import Sequence

from vpo_envs.text_match import multiset_f1
from vpo_envs.toolrl.answer_text import MAX_CALLS, Answer, Call
from vpo_envs.toolrl.values import match

Pairs = list[tuple[int, int]]
STEPS = 10_000  # in which key overlap and value match are weighed: with MAX_CALLS calls the sums stay below 2**53


def reward_of(answer: Answer, gold: Sequence[Call]) -> tuple[float, float, float, float]:
    """`format`, `tool_name`, `arg_key` and `arg_value` of an answer."""
    made = answer.calls
    if not gold:
        # Any tag of a call counts as a call made, lest a broken call be better than a readable one.
        silent = 0.0 if made is None or made else 1.0
        return float(answer.thinks and not answer.tagged), silent, silent, silent
    if not made:
        return 0.0, 0.0, 0.0, 0.0
    names = multiset_f1([call.name for call in made], [call.name for call in gold])
    pairs = align(gold, made)
    most = max(len(gold), len(made))  # so that a call without a partner, on either side, counts 0
    keys = sum(key_overlap(gold[i], made[j]) for i, j in pairs) / most
    values = sum(value_match(gold[i], made[j]) for i, j in pairs) / most
    return float(answer.thinks), names, keys, values


def key_overlap(gold: Call, made: Call) -> float:
    """Set F1 of the parameter names; 1 if neither call has any."""
    total = len(gold.parameters) + len(made.parameters)
    return 2 * len(gold.parameters.keys() & made.parameters.keys()) / total if total else 1.0


def value_match(gold: Call, made: Call) -> float:
    """Mean over the gold parameters of how well their values match; a missing one is 0; 1 if there are none."""
    return match(gold.form, made.form) if gold.parameters else 1.0


def align(gold: Sequence[Call], made: Sequence[Call]) -> Pairs:
    """One-to-one pairs (index of gold, index of made), as many as the shorter list is long.

    They have the most equal names; of those that have, the largest sum of key overlaps; of those, the largest sum of
    value matches.
    """
    if len(gold) == len(made) == 1:
        return [(0, 0)]
    gold_names, made_names = [call.name for call in gold], [call.name for call in made]
    if len(set(gold_names)) < len(gold) or len(set(made_names)) < len(made):
        return _assign(gold, made, list(range(len(gold))), list(range(len(made))))
    # Every name once on either side: equal names are a pair, and there is a choice among the others only.
    where = {name: j for j, name in enumerate(made_names)}
    pairs = [(i, where[name]) for i, name in enumerate(gold_names) if name in where]
    rest_i = [i for i, name in enumerate(gold_names) if name not in where]
    rest_j = sorted(set(range(len(made))) - {j for _, j in pairs})
    if len(rest_i) == len(rest_j) == 1:
        return [*pairs, (rest_i[0], rest_j[0])]
    return pairs + (_assign(gold, made, rest_i, rest_j) if rest_i and rest_j else [])


def _assign(gold: Sequence[Call], made: Sequence[Call], rows: list[int], columns: list[int]) -> Pairs:
    """The best pairs among some calls. The three criteria become the digits of one whole number."""
    from scipy.optimize import linear_sum_assignment  # 0.2 s to import, and few answers need it

    assert max(len(rows), len(columns)) <= MAX_CALLS
    base = min(len(rows), len(columns)) * STEPS + 1
    weights = [
        [
            ((gold[i].name == made[j].name) * base + round(STEPS * key_overlap(gold[i], made[j]))) * base
            + round(STEPS * value_match(gold[i], made[j]))
            for j in columns
        ]
        for i in rows
    ]
    chosen = linear_sum_assignment(weights, maximize=True)
    return [(rows[i], columns[j]) for i, j in zip(*chosen, strict=True)]
