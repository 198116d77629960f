"""Generated rules: the program does what the words say, and the tests tell readings and mistakes apart."""

from __future__ import annotations

import pickle
import re

import pytest
from helpers import outputs_under_hash_seeds

from vpo_envs.code.problems import CodeProblem
from vpo_envs.code.rules import rule_problem
from vpo_envs.code.rules.generator import near_misses, readings
from vpo_envs.code.rules.grammar import ACTIONS, CONDITIONS, FIRST, OPEN, Case, Part, Rule, read_statement, values_of
from vpo_envs.code.sandbox import Job, Sandbox, Verdict
from vpo_envs.problem_lists import split_of

LEVELS = (
    {},
    {"is_open": False},
    {"cases": 1, "tests": 4},
    {"cases": 3, "numbers": 10, "tests": 16},
)
every_level = pytest.mark.parametrize("level", LEVELS, ids=str)

EXAMPLE = Rule(
    (Case(Part("even"), Part("plus", 3)), Case(Part("between", 4, 9), Part("half"))), Part("difference", 7, meaning=1)
)


def problems(number: int = 100, split: str = "train", **level: object) -> list[CodeProblem]:
    return [rule_problem(split, i, **level) for i in range(number)]


def words_to_value(statement: str, n: int, last_counts: bool, inclusive: bool, up: bool, signed: bool) -> int:
    """A rule carried out from its words alone, written apart from the grammar: the slow reference."""

    def holds(words: str) -> bool:
        numbers = [int(number) for number in re.findall(r"\d+", words)]
        if "even" in words or "odd" in words:
            return n % 2 == ("odd" in words)
        if "between" in words:
            low, high = numbers
            return low <= n <= high if inclusive else low < n < high
        [a] = numbers
        if "divisible" in words:
            return n % a == 0
        if "ends" in words:
            return str(n).endswith(str(a))
        return {"greater than": n > a, "less than": n < a, "at least": n >= a, "at most": n <= a}[
            re.search(r"greater than|less than|at least|at most", words)[0]
        ]

    def value(words: str) -> int:
        if words == "half of n":
            return -(-n // 2) if up else n // 2
        if words == "the last digit of n":
            return int(str(n)[-1])
        if difference := re.fullmatch(r"the difference of n and (\d+)", words):
            other = int(difference[1])
            return n - other if signed else max(n, other) - min(n, other)
        left, *rest = words.replace("n", str(n)).replace(f"mi{n}us", "minus").split()
        if not rest:
            return int(left)
        sign, right = rest
        return {"plus": int(left) + int(right), "minus": int(left) - int(right), "times": int(left) * int(right)}[sign]

    *cases, otherwise = [line.split(": print ") for line in statement.split("\n")[2:]]
    for condition, action in reversed(cases) if last_counts else cases:
        if holds(condition):
            return value(action)
    return value(otherwise[1])


def test_a_rule_in_words_and_in_python():
    assert EXAMPLE.statement(40, is_open=True) == (
        "Read a whole number n from 0 to 40 and print one whole number.\n"
        "Where the words leave something open, the tests settle it.\n"
        "n is even: print n plus 3\n"
        "n is between 4 and 9: print half of n\n"
        "otherwise: print the difference of n and 7"
    )
    assert EXAMPLE.program() == (
        "n = int(input())\nif n % 2 == 0: print(n + 3)\nelif 4 <= n <= 9: print(n // 2)\nelse: print(abs(n - 7))"
    )
    assert [EXAMPLE.values(40)[n] for n in (1, 4, 5, 11)] == [6, 7, 2, 4]
    assert len(readings(EXAMPLE)) == 2**4 - 1


@pytest.mark.parametrize("kind", [*CONDITIONS, *ACTIONS])
@pytest.mark.parametrize("last_counts", [False, True])
def test_a_phrase_means_what_its_words_say(kind, last_counts):
    for meaning in range(len((CONDITIONS | ACTIONS)[kind].meanings)):
        part = Part(kind, 4, 9, meaning)
        condition, action = (part, Part("constant", 1)) if kind in CONDITIONS else (Part("even"), part)
        cases = (Case(condition, action), Case(Part("greater", 12), Part("constant", 0)))
        rule = Rule(cases, Part("square"), last_counts)
        first, second = meaning == 0, meaning == 1
        for n in range(41):
            expected = words_to_value(
                rule.statement(40, True), n, last_counts, inclusive=first, up=second, signed=first
            )
            assert rule.values(40)[n] == expected


@every_level
def test_references_pass_and_partial_solutions_fail_in_the_sandbox(level):
    found = problems(15, **level)
    jobs = [Job(program, p.tests) for p in found for program in (p.reference, *p.partial)]
    with Sandbox(workers=2) as sandbox:
        results = iter(sandbox.run_batch(jobs))
    for p in found:
        passed = [[r.verdict is Verdict.PASS for r in next(results)] for _ in range(1 + len(p.partial))]
        assert all(passed[0])
        assert not any(map(all, passed[1:]))
        assert len({tuple(row) for row in passed}) > (2 if level.get("cases", 2) > 1 else 1)


@every_level
def test_tests_tell_other_readings_and_near_misses_apart(level):
    """With two cases and eight tests all of them that differ on any number at all, else nearly all."""
    told_apart = {"readings": [], "misses": []}
    for p in problems(40, **level):
        rule, most, _ = read_statement(p.statement)
        [true] = [r for r in (rule, *readings(rule)) if r.program() == p.reference]
        value = true.values(most)
        inputs = [int(test.input) for test in p.tests]
        for name, others in (("readings", readings(true)), ("misses", near_misses(true, most // 2))):
            for other in others:
                differing = [n for n, v in enumerate(other.values(most)) if v != value[n]]
                if differing:
                    told_apart[name].append(not set(differing).isdisjoint(inputs))
    fewest = 1 if level.get("cases", 2) == 2 else 0.95
    assert sum(told_apart["misses"]) / len(told_apart["misses"]) >= fewest
    if told_apart["readings"]:
        assert sum(told_apart["readings"]) / len(told_apart["readings"]) >= fewest


def test_tests_cover_each_case_alone_both_and_neither():
    for p in problems(60):
        rule, _, _ = read_statement(p.statement)
        first, second = (values_of(case.condition.code, 40) for case in rule.cases)
        fits = [(first[n], second[n]) for n in (int(test.input) for test in p.tests)]
        # The ends of "between" may be tested as either, so only the other conditions are certain.
        if "between" not in p.statement:
            assert fits == [(1, 0)] * 2 + [(0, 1)] * 2 + [(1, 1)] * 2 + [(0, 0)] * 2


@every_level
def test_a_problem_has_the_size_that_is_asked_for(level):
    for p in problems(40, **level):
        inputs = [int(test.input) for test in p.tests]
        rule, most, _ = read_statement(p.statement)
        assert len(rule.cases) == level.get("cases", 2)
        assert most == 2 * level.get("numbers", 20)
        assert len(set(inputs)) == len(inputs) == level.get("tests", 8)
        assert set(inputs) <= set(range(most + 1))
        assert max(max(part.a, part.b) for part in rule.parts()) <= level.get("numbers", 20)


def test_a_statement_that_leaves_nothing_open_has_one_reading():
    for p in problems(60, is_open=False):
        rule, _, is_open = read_statement(p.statement)
        assert (is_open, FIRST in p.statement, OPEN in p.statement) == (False, True, False)
        assert rule.program() == p.reference
        assert all(len(part.phrase.meanings) == 1 for part in rule.parts())


def test_what_is_left_open_is_settled_one_way_as_often_as_the_other():
    def first_counts(problem: CodeProblem) -> bool:
        [condition, *_] = (case.condition for case in read_statement(problem.statement)[0].cases)
        return f"if {condition.code}:" in problem.reference.split("\n")[1]

    found = problems(250)
    clear = [p for p in found if "between" not in p.statement]
    assert 0.4 < sum(map(first_counts, clear)) / len(clear) < 0.6
    halves = [p.reference for p in found if "half of n" in p.statement]
    assert 0.3 < sum("(n + 1) // 2" in reference for reference in halves) / len(halves) < 0.7


def test_statements_are_varied_and_the_splits_have_none_in_common():
    train, test = ({p.statement for p in problems(400, split)} for split in ("train", "test"))
    assert len(train) == len(test) == 400
    assert train.isdisjoint(test)
    assert {split_of(statement) for statement in train} == {"train"}
    assert {split_of(statement) for statement in test} == {"test"}


def test_statements_and_programs_are_short():
    def words(text: str) -> int:
        return len(re.findall(r" ?[^\s<>]+|\s|[<>]", text))

    for p in problems(200):
        assert 2 + words("\n".join(p.statement.split("\n")[2:])) <= 40
        assert words(p.reference) <= 36
        assert p.reference.isascii()
        assert p.statement.isascii()


def test_problems_follow_from_their_arguments():
    assert rule_problem("train", 10**9) == rule_problem("train", 10**9)
    assert rule_problem("train", 3) != rule_problem("test", 3)
    assert rule_problem("train", 3).statement != rule_problem("train", 4).statement
    problem = rule_problem("test", 7, cases=3)
    assert pickle.loads(pickle.dumps(problem)) == problem


IN_ANOTHER_PROCESS = """
from random import Random
from vpo_envs.code.rules import demonstration, rule_problem
for split in ("train", "test"):
    for i in range(20):
        problem = rule_problem(split, i)
        print(problem, demonstration(problem, Random(i)))
"""


def test_processes_with_different_hash_seeds_agree():
    runs = outputs_under_hash_seeds(IN_ANOTHER_PROCESS)
    assert len(runs[0]) > 10_000
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("argument", "complaint"),
    [
        ({"cases": 0}, "Code: cases must be a whole number from 1 to 3, not 0"),
        ({"cases": 4}, "Code: cases must"),
        ({"numbers": 9}, "Code: numbers must be a whole number from 10 to 50, not 9"),
        ({"numbers": 20.0}, "Code: numbers must"),
        ({"tests": 3}, "Code: tests must be a whole number from 4 to 16, not 3"),
        ({"tests": True}, "Code: tests must"),
    ],
)
def test_bad_arguments_are_named(argument, complaint):
    with pytest.raises(ValueError, match="Code: ") as error:
        rule_problem("train", 0, **argument)
    assert complaint in str(error.value)


@pytest.mark.parametrize("edit", [("even", "prime"), ("otherwise", "else"), ("print n", "show n"), ("Read", "Take")])
def test_a_text_that_is_no_rule_is_refused(edit):
    statement = EXAMPLE.statement(40, is_open=True)
    assert read_statement(statement)[1:] == (40, True)
    with pytest.raises(ValueError, match="rule"):
        read_statement(statement.replace(*edit))
    with pytest.raises(ValueError, match="not the statement of a rule"):
        read_statement("Sort numbers.")


def test_reading_a_statement_gives_the_rule_back():
    for p in problems(60, cases=3, numbers=50):
        rule, most, is_open = read_statement(p.statement)
        assert rule.statement(most, is_open) == p.statement
