"""The figures of an evaluation, against the definitions written out over every subset of the pool."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest
import torch
from evaluation_helpers import MAZE, random_result, save_tiny_policy

import agents.evaluation
from agents.config import EvaluationConfig, parse_pairs
from agents.evaluation import PolicyResult, evaluate_policy
from agents.generation import Completion
from agents.policy import Policy, builtin_folder, load_policy
from agents.presets import LAPTOP
from vpo_envs.answers import join_answers, split_response
from vpo_envs.maze import MazeTask
from vpo_envs.scalarization import sample_weights


def answers_of(result: PolicyResult, problem: int) -> list[list[float]]:
    """All answers of a problem: their real objectives, an absent one at the floor."""
    mask = [True] * len(result.objectives) if result.objective_mask is None else result.objective_mask[problem]
    pool = []
    for given, vectors in zip(result.answered[problem], result.rewards[problem], strict=True):
        for there, vector in zip(given, vectors, strict=True):
            row = vector if there else result.floor
            pool.append([float(v) for v, real in zip(row, mask, strict=True) if real])
    return pool


def scalar(result: PolicyResult, problem: int, weights, vector) -> float:
    if result.objective_mask is not None:
        weights = [w for w, real in zip(weights, result.objective_mask[problem], strict=True) if real]
    return sum(w * v for w, v in zip(weights, vector, strict=True)) / sum(weights)


def slow_best(result: PolicyResult, weight_vectors, k: int) -> list[float]:
    """For each problem the mean, over weights and over all subsets of k answers, of the best in the subset."""
    out = []
    for problem in range(len(result.problems)):
        pool = answers_of(result, problem)
        values = []
        for w in weight_vectors:
            scalars = [scalar(result, problem, w, vector) for vector in pool]
            values += [max(subset) for subset in combinations(scalars, k)]
        out.append(np.mean(values))
    return out


def slow_best_of_set(result: PolicyResult, weight_vectors) -> list[float]:
    out, m = [], result.num_answers
    for problem in range(len(result.problems)):
        pool = answers_of(result, problem)
        sets = [pool[i : i + m] for i in range(0, len(pool), m)]
        out.append(np.mean([max(scalar(result, problem, w, v) for v in s) for s in sets for w in weight_vectors]))
    return out


def dominates(a, b) -> bool:
    return all(x >= y for x, y in zip(a, b, strict=True)) and any(x > y for x, y in zip(a, b, strict=True))


def cases() -> list[PolicyResult]:
    masked = random_result(seed=1, k=4, objective_mask=np.array([[1, 1, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]], bool), p=3)
    nothing = random_result(seed=3, p=2, answered=np.zeros((2, 3, 2), bool), rewards=np.zeros((2, 3, 2, 3), np.float32))
    return [
        random_result(),
        random_result(seed=2, n=6, m=1),
        random_result(seed=4, n=2, m=4, floor=np.array([-1, -0.5, -2], np.float32), bounded_by_one=False),
        masked,
        nothing,
    ]


@pytest.mark.parametrize("result", cases(), ids=["sets", "single", "negative floor", "masked", "no answers"])
class TestFiguresAgainstDefinitions:
    def test_best_of_k_and_of_sets(self, result):
        weights = sample_weights(7, len(result.objectives), rng=3)
        found = result.per_prompt
        assert result.ks == [1, 2, 3, result.config.answers]
        for k in result.ks:
            np.testing.assert_allclose(found[f"best@{k}"], slow_best(result, [result.reference_weights], k), atol=1e-9)
            np.testing.assert_allclose(found[f"ew_best@{k}"], slow_best(result, weights, k), atol=1e-9)
        np.testing.assert_allclose(
            found["best_of_set"], slow_best_of_set(result, [result.reference_weights]), atol=1e-9
        )
        np.testing.assert_allclose(found["ew_best_of_set"], slow_best_of_set(result, weights), atol=1e-9)

    def test_answers(self, result):
        found = result.per_prompt
        total = result.config.answers
        for problem in range(len(result.problems)):
            assert found["tokens_per_answer"][problem] == pytest.approx(sum(result.tokens[problem]) / total)
            assert found["answered"][problem] == pytest.approx(sum(result.answered[problem].ravel()) / total)
            assert found["finished"][problem] == pytest.approx(sum(result.finished[problem]) / len(result.tokens[0]))
            pool = answers_of(result, problem)
            names = [
                name
                for i, name in enumerate(result.objectives)
                if result.objective_mask is None or result.objective_mask[problem, i]
            ]
            for i, name in enumerate(names):
                assert found[f"objective/{name}"][problem] == pytest.approx(sum(v[i] for v in pool) / total)

    def test_variety(self, result):
        found = result.per_prompt
        for problem in range(len(result.problems)):
            pool = answers_of(result, problem)
            there = [v for v, given in zip(pool, result.answered[problem].ravel(), strict=True) if given]
            pairs = [sum(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in combinations(there, 2)]
            assert found["diversity"][problem] == pytest.approx(np.mean(pairs) if pairs else 0.0)
            best = [v for v in pool if not any(dominates(other, v) for other in pool)]
            count, share = len({tuple(v) for v in best}), len(best) / len(pool)
            if not there:
                count, share = 0, 0.0
            assert found["pareto_count"][problem] == count
            assert found["pareto_share"][problem] == pytest.approx(share)

    def test_hypervolume_by_sampling_points(self, result):
        rng = np.random.default_rng(0)
        for problem in range(2):
            pool = np.array(answers_of(result, problem))
            real = slice(None) if result.objective_mask is None else result.objective_mask[problem]
            low = result.floor[real].astype(float) - 0.1
            box = np.prod(1 - low)
            points = rng.uniform(low, 1.0, (20_000, len(low)))
            share = (points[:, None] < pool).all(-1).any(-1).mean()
            assert result.per_prompt["hypervolume"][problem] == pytest.approx(share * box, abs=0.02 * box)

    def test_solved(self, result):
        if not result.bounded_by_one:
            assert not any(name.startswith("pass@") for name in result.per_prompt)
            return
        for problem in range(len(result.problems)):
            flags = [all(x == 1 for x in vector) for vector in answers_of(result, problem)]
            for k in result.ks:
                expected = np.mean([any(subset) for subset in combinations(flags, k)])
                assert result.per_prompt[f"pass@{k}"][problem] == pytest.approx(expected)

    def test_estimates_are_means_with_intervals_around_them(self, result):
        for name, estimate in result.metrics().items():
            values = result.per_prompt[name]
            assert estimate.value == pytest.approx(np.nanmean(values))
            assert np.nanmin(values) - 1e-9 <= estimate.low <= estimate.value + 1e-9
            assert estimate.value - 1e-9 <= estimate.high <= np.nanmax(values) + 1e-9


def test_an_exact_front_gives_ceiling_regret_and_what_was_found():
    fronts = [np.array([[1, 0, 1], [0, 1, 1]], np.float32), np.array([[0.5, 0.5, 0.5]], np.float32)]
    rewards = np.zeros((2, 2, 1, 3), np.float32)
    rewards[0, 1] = [1, 0, 1]
    result = random_result(p=2, n=2, m=1, rewards=rewards, answered=np.ones((2, 2, 1), bool), fronts=fronts)
    assert result.per_prompt["front_found"].tolist() == [0.5, 0.0]
    assert result.per_prompt["regret"] == pytest.approx([5 / 6 - 4 / 6, 0.5])  # weights 1/6, 2/6, 3/6
    weights = sample_weights(7, 3, rng=3)
    expected = np.mean([max(w[0] + w[2], w[1] + w[2]) - (w[0] + w[2]) for w in weights])
    assert result.per_prompt["ew_regret"] == pytest.approx([expected, 0.5])
    ceiling = result.ceiling()
    assert ceiling["best@1"].value == ceiling["best_of_set"].value == pytest.approx((5 / 6 + 0.5) / 2)
    assert ceiling["pareto_count"].value == 1.5
    assert "pass@1" not in result.per_prompt  # no vector of these fronts is perfect
    assert random_result().ceiling() == {}


# ---- with a model -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def policy(tmp_path_factory) -> Policy:
    folder = save_tiny_policy(tmp_path_factory.mktemp("policy"))
    return load_policy(str(folder), torch.device("cpu"), torch.float32)


def test_evaluating_twice_gives_the_same_pool(policy):
    config = EvaluationConfig(problems=3, answers=6, weights=8)
    first, second = (evaluate_policy(policy, "vpo/Maze-v0", MAZE, 3, config, 20, 256, progress=False) for _ in range(2))
    assert first.rewards.shape == (3, 2, 3, 4)
    assert np.array_equal(first.tokens, second.tokens)
    assert first.answers == second.answers
    assert first.metrics() == second.metrics()
    assert first.label == policy.source
    other = evaluate_policy(
        policy, "vpo/Maze-v0", MAZE, 3, EvaluationConfig(problems=3, answers=6, seed=1), 20, 256, progress=False
    )
    assert not np.array_equal(other.weights[:8], first.weights)


@pytest.mark.parametrize("m", [1, 3])
def test_the_pool_holds_what_the_responses_earn(policy, monkeypatch, m):
    """A generator that copies demonstrations, cut off now and then, in place of the model."""
    task = MazeTask("test", size=5, slack=4)
    texts: dict[tuple[int, ...], int] = {tuple(policy.prompt_ids(task.messages(task[i], m))): i for i in range(5)}
    sent: dict[int, list[str]] = {}

    class Demonstrator:
        def __init__(self, *args, **kwargs) -> None:
            self.rng = Random(0)

        def stream(self, prompts, n, sampling, seeds):
            for place, prompt in enumerate(prompts):
                yield place, [self.respond(tuple(prompt)) for _ in range(n)]

        def respond(self, prompt):
            problem = texts[prompt]
            text = join_answers(task, [task.demonstration(task[problem], self.rng) for _ in range(m)])
            text = text[: self.rng.choice([len(text), len(text) // 2])]
            sent.setdefault(problem, []).append(text)
            ids = policy.tokenizer(text)["input_ids"]
            return Completion(ids, [0.0] * len(ids), "stop" if text.endswith(">") else "length")

    monkeypatch.setattr(agents.evaluation, "TransformersGenerator", Demonstrator)
    config = EvaluationConfig(problems=5, answers=6, weights=16)
    result = evaluate_policy(policy, "vpo/Maze-v0", MAZE, m, config, 90, 256, progress=False, label="demonstrations")
    for problem in range(5):
        for j, text in enumerate(sent[problem]):
            answers = split_response(task, text, m)
            assert result.answers[problem][j] == answers
            for i, answer in enumerate(answers):
                expected = np.zeros(4) if answer is None else task.score(task[problem], answer)
                np.testing.assert_array_equal(result.rewards[problem, j, i], expected)
                assert result.answered[problem, j, i] == (answer is not None)
            assert result.tokens[problem, j] == len(policy.tokenizer(text)["input_ids"])
    assert result.metrics()["objective/completion"].value > 0.3
    assert 0 < result.per_prompt["finished"].mean() < 1
    assert (result.per_prompt["regret"] >= -1e-6).all()
    assert (result.per_prompt["ew_regret"] >= -1e-6).all()


@pytest.mark.parametrize(
    ("changes", "m", "message"),
    [
        ({"answers": 10}, 3, "10 answers cannot be sampled as responses of 3"),
        ({"answers": 2}, 3, "choose a multiple of 3"),
        ({"problems": 0}, 1, "problems must be at least 1"),
        ({"weights": 0}, 1, "weights must be at least 1"),
        ({"prompt_weights": "all"}, 1, "prompt_weights is one of auto, none, reference, random, not 'all'"),
        ({"ks": (0,)}, 1, "ks must be whole numbers of at least 1"),
        ({"temperature": -1.0}, 1, "temperature must be at least 0"),
    ],
)
def test_numbers_that_do_not_fit(policy, changes, m, message):
    config = EvaluationConfig(**{"problems": 2, "answers": 6} | changes)
    with pytest.raises(ValueError, match=message):
        evaluate_policy(policy, "vpo/Maze-v0", MAZE, m, config, 10, 256, progress=False)


def test_more_problems_than_there_are_means_all(policy):
    config = EvaluationConfig(problems=50, answers=1, weights=2)
    result = evaluate_policy(policy, "vpo/Maze-v0", (*MAZE, "num_problems=4"), 1, config, 5, 256, progress=False)
    assert result.problems == [0, 1, 2, 3]
    assert result.ks == [1]


def test_other_problems_than_the_first(policy):
    args = (*MAZE, "num_problems=4")
    config = EvaluationConfig(problems=50, answers=1, weights=2)
    whole, rest = (
        evaluate_policy(policy, "vpo/Maze-v0", args, 1, replace(config, first=first), 5, 256, progress=False)
        for first in (0, 2)
    )
    assert rest.problems == [2, 3]
    assert rest.answers == whole.answers[2:]
    with pytest.raises(ValueError, match=r"--evaluation\.first 4: vpo/Maze-v0 has 4 test problems"):
        evaluate_policy(policy, "vpo/Maze-v0", args, 1, replace(config, first=4), 5, 256, progress=False)
    with pytest.raises(ValueError, match="first must be at least 0, not -1"):
        evaluate_policy(policy, "vpo/Maze-v0", args, 1, replace(config, first=-1), 5, 256, progress=False)


def test_the_papers_top_p_is_the_default_of_an_evaluation():
    asked, used = EvaluationConfig(problems=2, answers=2), {}
    for env in ("vpo/Maze-v0", "vpo/EUREQA-v0"):
        args = LAPTOP[env].env_args
        folder = builtin_folder(env, parse_pairs(args, "laptop"))
        policy = load_policy(str(folder), torch.device("cpu"), torch.float32)
        for top_p in (None, 0.5):
            config = replace(asked, top_p=top_p)
            result = evaluate_policy(policy, env, args, 1, config, 8, 256, progress=False)
            used[env, top_p] = result.config.top_p
    assert used == {
        ("vpo/Maze-v0", None): 1.0,
        ("vpo/EUREQA-v0", None): 0.95,
        ("vpo/Maze-v0", 0.5): 0.5,
        ("vpo/EUREQA-v0", 0.5): 0.5,
    }
