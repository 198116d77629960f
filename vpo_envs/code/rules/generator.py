"""Random rules, and tests that tell their readings and their near misses apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice, product
from random import Random

from vpo_envs.code.problems import CodeProblem
from vpo_envs.code.rules.grammar import ACTIONS, CONDITIONS, PHRASES, Case, Part, Rule, values_of
from vpo_envs.code.sandbox import StdinTest
from vpo_envs.problem_lists import check_whole, split_of
from vpo_envs.task import Split

MOST_CASES, FEWEST_NUMBERS, MOST_NUMBERS, FEWEST_TESTS, MOST_TESTS = 3, 10, 50, 4, 16
SEEN_TWICE = 2  # so many numbers at least fall under each case alone, under several, and under none

NEAR_KINDS = {
    "even": "odd",
    "odd": "even",
    "greater": "least",
    "least": "greater",
    "less": "most",
    "most": "less",
    "plus": "minus",
    "minus": "plus",
    "from": "minus",
}
"""What a phrase is mistaken for."""


def rule_problem(
    split: Split, index: int, cases: int = 2, numbers: int = 20, tests: int = 8, is_open: bool = True
) -> CodeProblem:
    """Generated problem `index` of a split: a pure function of its arguments.

    Args:
        cases: how many conditions a rule has, beside "otherwise", 1 to 3.
        numbers: the largest number in a statement, 10 to 50. The program reads 0 to twice as many.
        tests: how many tests, 4 to 16.
        is_open: the statement leaves some things open (which of two cases counts where both fit; whether "between 4
            and 9" has 4 in it; how "half of n" is rounded; whether "the difference" has a sign), and the tests follow
            one reading. Otherwise the first case counts, and there is one reading.
    """
    check_whole("Code: cases", cases, 1, MOST_CASES)
    check_whole("Code: numbers", numbers, FEWEST_NUMBERS, MOST_NUMBERS)
    check_whole("Code: tests", tests, FEWEST_TESTS, MOST_TESTS)
    # Seeding `Random` with a string hashes it with SHA-512, so it does not depend on PYTHONHASHSEED.
    rng = Random(f"vpo/Code-v0 rule {split} {index} {cases} {numbers} {tests} {is_open}")
    most = 2 * numbers
    while True:
        rule = _random_rule(rng, cases, numbers, is_open)
        # All readings of one statement are in one split.
        if split_of(statement := rule.statement(most, is_open)) == split and (groups := _groups(rule, most)):
            break
    rivals = [*readings(rule), *near_misses(rule, numbers)]
    values, rival_values = rule.values(most), [rival.values(most) for rival in rivals]
    inputs = _choose(rng, values, rival_values, groups, tests)
    wrong = [
        rival.program()
        for rival, other in zip(rivals, rival_values, strict=True)
        if any(other[n] != values[n] for n in inputs)
    ]
    return CodeProblem(
        name=f"rule_{split}_{index}",
        statement=statement,
        tests=tuple(StdinTest(f"{n}\n", f"{values[n]}\n") for n in inputs),
        reference=rule.program(),
        partial=tuple(dict.fromkeys(wrong)),
    )


def _random_rule(rng: Random, cases: int, numbers: int, is_open: bool) -> Rule:
    def part(kinds: list[str]) -> Part:
        return _random_part(rng, rng.choice(kinds), numbers)

    conditions = [kind for kind, phrase in CONDITIONS.items() if is_open or len(phrase.meanings) == 1]
    actions = [kind for kind, phrase in ACTIONS.items() if is_open or len(phrase.meanings) == 1]
    rule = Rule(tuple(Case(part(conditions), part(actions)) for _ in range(cases)), part(actions))
    return replace(rule, last_counts=is_open and cases > 1 and rng.random() < 1 / 2)


def _random_part(rng: Random, kind: str, numbers: int) -> Part:
    phrase = PHRASES[kind]
    low, high = number_range(kind, numbers)
    a = rng.randint(low, high) if "{a}" in phrase.words else 0
    b = rng.randint(a + 2, numbers) if "{b}" in phrase.words else 0
    return Part(kind, a, b, rng.randrange(len(phrase.meanings)))


def number_range(kind: str, numbers: int) -> tuple[int, int]:
    """The smallest and the largest number in a phrase."""
    limits = {"divisible": (3, 5), "ends": (0, 9), "times": (2, 5), "between": (1, numbers - 2)}
    return limits.get(kind, (1, numbers))


def _groups(rule: Rule, most: int) -> list[list[int]]:
    """The numbers under each case alone, under several cases, and under none. Empty if the rule will not do.

    Each group needs some numbers, and where several cases fit, it has to matter which of them counts.
    """
    fits = list(zip(*(values_of(case.condition.code, most) for case in rule.cases), strict=True))  # (numbers, cases)
    alone = [[n for n, fit in enumerate(fits) if fit[i] and sum(fit) == 1] for i in range(len(rule.cases))]
    several = [n for n, fit in enumerate(fits) if sum(fit) > 1]
    neither = [n for n, fit in enumerate(fits) if not any(fit)]
    groups = [*alone, several, neither] if len(rule.cases) > 1 else [*alone, neither]
    if min(map(len, groups)) < SEEN_TWICE or len({part.words for part in rule.parts()}) < len(rule.parts()):
        return []
    values, turned = rule.values(most), replace(rule, last_counts=not rule.last_counts).values(most)
    if several and sum(values[n] != turned[n] for n in several) < SEEN_TWICE:
        return []
    return groups


def readings(rule: Rule) -> list[Rule]:
    """The other ways in which the words of an open statement can be read."""
    choices = [[part._replace(meaning=m) for m in range(len(part.phrase.meanings))] for part in rule.parts()]
    orders = (False, True) if len(rule.cases) > 1 else (False,)
    found = [replace(rule.with_parts(parts), last_counts=last) for parts in product(*choices) for last in orders]
    return [other for other in found if other != rule]


def near_misses(rule: Rule, numbers: int) -> list[Rule]:
    """The rule with one slip: a case forgotten, the order turned, a phrase mistaken, or a number one off."""
    dropped = [replace(rule, cases=rule.cases[:i] + rule.cases[i + 1 :]) for i in range(len(rule.cases))]
    turned = [replace(rule, last_counts=not rule.last_counts)] if len(rule.cases) > 1 else []
    parts = rule.parts()
    changed = [
        rule.with_parts((*parts[:i], slip, *parts[i + 1 :]))
        for i, part in enumerate(parts)
        for slip in slips(part, numbers)
    ]
    return dropped + turned + changed


def slips(part: Part, numbers: int) -> list[Part]:
    """What a condition or an action is mistaken for."""
    low, high = number_range(part.kind, numbers)
    found = [part._replace(kind=NEAR_KINDS[part.kind])] if part.kind in NEAR_KINDS else []
    if "{b}" in part.phrase.words:
        return [part._replace(b=b) for b in (part.b - 1, part.b + 1) if b <= numbers]
    if "{a}" in part.phrase.words:
        found += [part._replace(a=a) for a in (part.a - 1, part.a + 1) if low <= a <= high]
    return found


def _choose(rng: Random, values: list[int], rivals: list[list[int]], groups: list[list[int]], tests: int) -> list[int]:
    """The numbers to test: as many of each group, those first that give away rivals not yet found out.

    The earlier a rival stands in the list, the more it matters to find it out.
    """
    gives_away = {n: {i for i, rival in enumerate(rivals) if rival[n] != values[n]} for group in groups for n in group}
    hidden = set(range(len(rivals)))
    left = [rng.sample(group, len(group)) for group in groups]
    chosen: list[list[int]] = [[] for _ in groups]
    for i in islice((i for i in cycle(range(len(groups))) if left[i]), tests):
        n = max(left[i], key=lambda n: sum(2.0**-rival for rival in gives_away[n] & hidden))
        left[i].remove(n)
        chosen[i].append(n)
        hidden -= gives_away[n]
    return [n for group in chosen for n in sorted(group)]
