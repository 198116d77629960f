"""Closed forms against slow references: enumeration of every subset, loops over pairs, grids of points."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from vpo_envs.bootstrap import bootstrap_interval, paired_bootstrap_interval
from vpo_envs.metrics import (
    best_at_k,
    best_of_set,
    diversity,
    expected_best_at_k,
    expected_best_of_set,
    front_best,
    hypervolume,
    non_dominated,
    objective_correlation,
    pareto_count,
    pass_at_k,
    regret,
    solved,
)
from vpo_envs.scalarization import sample_weights

RNG = np.random.default_rng(0)


def slow_best_at_k(values: Any, k: int) -> float:
    """The mean over all k-subsets of their largest value."""
    return float(np.mean([max(subset) for subset in combinations(values, k)]))


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_best_at_k_is_the_mean_over_all_subsets(n: int) -> None:
    pools = [RNG.random(n), np.round(RNG.random(n), 1), np.zeros(n), -RNG.random(n)]  # ties and negative values too
    for k in range(1, n + 1):
        expected = [slow_best_at_k(pool, k) for pool in pools]
        np.testing.assert_allclose(best_at_k(pools, k), expected, rtol=0, atol=1e-12)


def test_best_at_k_keeps_leading_axes() -> None:
    scalars = RNG.random((2, 3, 6))
    assert best_at_k(scalars, 4).shape == (2, 3)
    assert best_at_k(scalars, 4)[1, 2] == pytest.approx(slow_best_at_k(scalars[1, 2], 4), abs=1e-12)
    assert best_at_k([0.2, 0.8], 1) == pytest.approx(0.5)


@pytest.mark.parametrize("k", [1, 2, 50, 2500, 4999, 5000])
def test_best_at_k_of_thousands_of_answers(k: int) -> None:
    n = 5000
    ones = np.ones(n)
    assert best_at_k(ones, k) == pytest.approx(1.0, abs=1e-10)  # the weights sum to one
    ranks = np.arange(1, n + 1)  # the mean of the largest of k ranks is k (n + 1) / (k + 1)
    assert best_at_k(ranks, k) == pytest.approx(k * (n + 1) / (k + 1), rel=1e-10)


@pytest.mark.parametrize("k", [0, 4, -1, True, 1.0])
def test_k_must_be_a_number_of_answers_that_there_are(k: Any) -> None:
    for call in (
        lambda: best_at_k(np.zeros(3), k),
        lambda: pass_at_k(np.zeros(3, bool), k),
        lambda: expected_best_at_k(np.zeros((3, 2)), np.ones((1, 2)), k),
    ):
        with pytest.raises(ValueError, match="k must be a whole number from 1 to the 3 answers"):
            call()


@pytest.mark.parametrize("correct", [0, 1, 3, 7])
def test_pass_at_k_is_the_published_estimator(correct: int) -> None:
    n = 7
    flags = np.arange(n) < correct
    for k in range(1, n + 1):
        by_counting = np.mean([any(subset) for subset in combinations(flags, k)])
        by_formula = 1 - math.comb(n - correct, k) / math.comb(n, k)
        assert pass_at_k(flags, k) == pytest.approx(by_counting, abs=1e-12)
        assert pass_at_k(flags, k) == pytest.approx(by_formula, abs=1e-12)


def test_pass_at_k_refuses_rewards() -> None:
    with pytest.raises(TypeError, match="booleans, not float64"):
        pass_at_k(np.array([0.3, 1.0]), 1)


def test_solved_looks_at_the_real_objectives() -> None:
    rewards = np.array([[[1, 1, 0], [1, 0.9, 1]], [[1, 1, 1], [0, 0, 1]]], np.float32)  # (2 prompts, 2 answers, 3)
    assert solved(rewards).tolist() == [[False, False], [True, False]]
    assert solved(rewards, [True, True, False]).tolist() == [[True, False], [True, False]]
    per_prompt = [[True, False, False], [False, False, True]]
    assert solved(rewards, per_prompt).tolist() == [[True, True], [True, True]]
    assert solved(np.float32([1 - 1e-7, 1]))  # rounding is not failing
    with pytest.raises(ValueError, match="does not fit"):
        solved(rewards, [True, False])
    with pytest.raises(ValueError, match="without objectives"):
        solved(rewards, [[True, True, True], [False] * 3])


def test_expected_best_at_k_averages_best_at_k_over_weights() -> None:
    rewards, weights = RNG.random((3, 6, 4)), sample_weights(11, 4, rng=1)
    for k in (1, 3, 6):
        slow = [np.mean([slow_best_at_k(pool @ w, k) for w in weights]) for pool in rewards]
        np.testing.assert_allclose(expected_best_at_k(rewards, weights, k), slow, rtol=0, atol=1e-12)
    assert expected_best_at_k(rewards[0], weights[0], 2) == pytest.approx(best_at_k(rewards[0] @ weights[0], 2))


def test_expected_best_renormalises_weights_on_the_real_objectives() -> None:
    rewards, weights = RNG.random((2, 5, 3)), sample_weights(7, 3, rng=2)
    masks = np.array([[True, True, False], [True, False, True]])
    slow = []
    for pool, mask in zip(rewards, masks, strict=True):
        real = weights[:, mask] / weights[:, mask].sum(axis=1, keepdims=True)
        slow.append(expected_best_at_k(pool[:, mask], real, 2))
    np.testing.assert_allclose(expected_best_at_k(rewards, weights, 2, masks), slow, atol=1e-12)
    with pytest.raises(ValueError, match="gives nothing to the real objectives"):
        expected_best_at_k(rewards, [0.0, 0.0, 1.0], 2, masks)


def test_weights_in_chunks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards, weights = RNG.random((2, 5, 2, 3)), sample_weights(13, 3, rng=3)
    answered = np.ones((2, 5, 2), bool)
    whole = expected_best_at_k(rewards, weights, 2), expected_best_of_set(rewards, answered, weights)
    monkeypatch.setattr("vpo_envs.metrics._CHUNK", 50)
    np.testing.assert_allclose(expected_best_at_k(rewards, weights, 2), whole[0], atol=1e-14)
    np.testing.assert_allclose(expected_best_of_set(rewards, answered, weights), whole[1], atol=1e-14)


def test_expected_best_of_set_is_the_vpo_objective() -> None:
    rewards, weights = RNG.random((2, 4, 3, 5)), sample_weights(9, 5, rng=4)
    answered = RNG.random((2, 4, 3)) < 0.6
    answered[0, 0] = False  # a rollout without any answer
    slow = np.zeros(2)
    for prompt in range(2):
        for rollout in range(4):
            for w in weights:
                present = [w @ r for r, a in zip(rewards[prompt, rollout], answered[prompt, rollout], strict=True) if a]
                slow[prompt] += max(present, default=-0.5) / (4 * len(weights))
    np.testing.assert_allclose(expected_best_of_set(rewards, answered, weights, no_answer=-0.5), slow, atol=1e-12)
    with pytest.raises(ValueError, match="answered must have shape"):
        expected_best_of_set(rewards, answered[0], weights)


def test_best_of_set() -> None:
    scalars = np.array([[0.1, 0.9], [-3.0, -2.0], [0.5, 0.5]])
    assert best_of_set(scalars).tolist() == [0.9, -2.0, 0.5]
    answered = np.array([[True, False], [True, True], [False, False]])
    assert best_of_set(scalars, answered).tolist() == [0.1, -2.0, 0.0]
    assert best_of_set(scalars, answered, no_answer=-9.0)[2] == -9.0


def test_diversity_is_the_mean_over_pairs() -> None:
    rewards = RNG.random((3, 7, 4))
    slow = [np.mean([np.abs(a - b).sum() for a, b in combinations(pool, 2)]) for pool in rewards]
    np.testing.assert_allclose(diversity(rewards), slow, rtol=0, atol=1e-12)
    assert diversity(np.ones((5, 4))) == 0.0
    assert diversity(np.ones((1, 4))) == 0.0
    assert diversity([[0.0, 0.0], [1.0, 1.0]]) == 2.0  # its largest value is the number of objectives


def slow_non_dominated(vectors: np.ndarray) -> list[bool]:
    return [not any((b >= a).all() and (b > a).any() for b in vectors) for a in vectors]


def test_pareto_counts() -> None:
    pools = RNG.integers(0, 3, (20, 8, 3)) / 2  # coarse, so that vectors repeat
    counts, shares = pareto_count(pools)
    for pool, count, share in zip(pools, counts, shares, strict=True):
        optimal = slow_non_dominated(pool)
        assert non_dominated(pool).tolist() == optimal
        assert count == len({tuple(v) for v, keep in zip(pool, optimal, strict=True) if keep})
        assert share == np.mean(optimal)
    count, share = pareto_count([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert (count, share) == (2, 0.75)
    with pytest.raises(ValueError, match="n >= 1"):
        pareto_count(np.zeros((2, 0, 3)))


def test_hypervolume_is_the_share_of_points_that_are_dominated() -> None:
    vectors = RNG.random((6, 3))
    points = RNG.random((100_000, 3))
    covered = (points[:, None] <= vectors).all(axis=-1).any(axis=1).mean()
    assert hypervolume(vectors) == pytest.approx(covered, abs=0.006)
    assert hypervolume([[0.5, 0.5], [0.25, 1.0]]) == pytest.approx(0.375)
    assert hypervolume([[0.5, 0.5]], reference=[-1.0, 0.25]) == pytest.approx(0.375)
    assert hypervolume([[-1.0, 2.0]]) == 0.0  # below the reference point nothing counts
    assert hypervolume(np.zeros((0, 2))) == 0.0
    with pytest.raises(ValueError, match="reference point"):
        hypervolume([[0.5, 0.5]], reference=[0.0])


def test_regret_is_the_gap_to_the_front() -> None:
    front = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    other = np.array([[0.5, 0.5]])
    pools = np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.5, 0.5], [0.0, 0.5]]])
    equal = np.array([0.5, 0.5])
    np.testing.assert_allclose(front_best([front, other], equal), [0.6, 0.5])
    np.testing.assert_allclose(regret(pools, [front, other], equal), [0.1, 0.0], atol=1e-12)
    np.testing.assert_allclose(regret(pools, [front, other], equal, k=1), [0.35, 0.125])
    corners = np.eye(2)  # E_w over the two corners: the front has 1 and 1, the first pool 1 and 0
    np.testing.assert_allclose(regret(pools, [front, other], corners), [0.5, 0.0])
    np.testing.assert_allclose(regret(np.stack([front, front]), [front, front], sample_weights(50, 2)), 0, atol=1e-12)
    assert front_best([np.zeros((0, 2))], equal).tolist() == [0.0]
    with pytest.raises(ValueError, match="one pool for each front"):
        regret(pools, [front], equal)


def test_maze_regret_of_the_front_itself_is_zero() -> None:
    from vpo_envs import make_task

    task = make_task("vpo/Maze-v0", size=5)
    fronts = [task.pareto_front(task[i]) for i in range(3)]
    pools = np.stack([np.resize(front, (40, 4)) for front in fronts])
    weights = sample_weights(20, 4)
    np.testing.assert_allclose(regret(pools, fronts, weights), 0, atol=1e-6)
    assert (regret(pools[:, :1], fronts, weights) > 0.01).any()


@pytest.mark.parametrize(("rewards", "weights"), [(np.zeros(3), np.ones(3)), (np.zeros((4, 3)), np.ones((2, 2)))])
def test_shapes_that_do_not_fit(rewards: np.ndarray, weights: np.ndarray) -> None:
    with pytest.raises(ValueError, match="must have shape"):
        expected_best_at_k(rewards, weights, 1)


def test_bootstrap_intervals_cover_the_mean_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for trial in range(300):
        low, high = bootstrap_interval(rng.exponential(1.0, 60), confidence=0.9, resamples=300, seed=trial)
        hits += low <= 1.0 <= high
    assert 0.83 <= hits / 300 <= 0.95  # 0.9 up to sampling error and the known small-sample shortfall


def test_bootstrap_width_is_that_of_the_normal_interval() -> None:
    values = np.random.default_rng(2).normal(5.0, 2.0, 400)
    low, high = bootstrap_interval(values)
    assert low < values.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.1)
    assert bootstrap_interval(values) == (low, high)
    assert bootstrap_interval(values, seed=1) != (low, high)
    assert bootstrap_interval([0.25]) == (0.25, 0.25)


def test_pairing_removes_what_both_share() -> None:
    rng = np.random.default_rng(3)
    difficulty = rng.normal(0, 1, 200)
    a, b = difficulty + 0.1 + rng.normal(0, 0.05, 200), difficulty
    low, high = paired_bootstrap_interval(a, b)
    assert 0 < low < 0.1 < high
    plain = bootstrap_interval(a)
    assert high - low < (plain[1] - plain[0]) / 5
    with pytest.raises(ValueError, match="the same prompts"):
        paired_bootstrap_interval(a, b[:-1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": []}, "P >= 1"),
        ({"values": [[1.0]]}, r"not \(1, 1\)"),
        ({"values": [1.0, np.nan]}, "value 1 is nan"),
        ({"values": [1.0], "confidence": 1.0}, "confidence"),
        ({"values": [1.0], "resamples": 0}, "resamples"),
    ],
)
def test_bad_bootstrap_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(**arguments)


def test_correlation_of_objectives_by_hand():
    # Within each problem the second objective is one minus the first, and the third never varies; across the problems
    # all levels differ, which must not matter.
    rewards = np.array([[[0.0, 1.0, 0.2], [0.5, 0.5, 0.2]], [[0.9, 0.1, 0.7], [0.5, 0.5, 0.7]]])
    expected = np.array([[1, -1, np.nan], [-1, 1, np.nan], [np.nan] * 3])
    np.testing.assert_allclose(objective_correlation(rewards), expected)


def test_correlation_is_numpys_for_one_problem_and_leaves_absent_answers_out():
    rng = np.random.default_rng(0)
    rewards = rng.random((1, 50, 4))
    answered = rng.random((1, 50)) < 0.7
    np.testing.assert_allclose(objective_correlation(rewards), np.corrcoef(rewards[0].T))
    expected = np.corrcoef(rewards[0, answered[0]].T)
    np.testing.assert_allclose(objective_correlation(rewards, answered), expected)
    nothing = objective_correlation(rewards, np.zeros((1, 50), bool))
    assert np.isnan(nothing).all()


def test_correlation_does_not_look_at_the_rewards_of_absent_answers():
    rewards, answered = np.random.default_rng(0).random((2, 9, 3)), np.ones((2, 9), bool)
    answered[:, 4:] = False
    expected = objective_correlation(rewards, answered)
    rewards[:, 4:] = np.nan
    np.testing.assert_allclose(objective_correlation(rewards, answered), expected)
