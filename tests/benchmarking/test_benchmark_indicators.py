"""Every indicator beside a slow reference from its definition, and beside MORL-Baselines where that has it."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.benchmarking.indicators import (
    INDICATORS,
    OF_FRONT,
    epsilon,
    expected_utility,
    found_front,
    front_found,
    igd_plus,
    measure,
    sparsity,
    volume,
)
from vpo_envs.scalarization import sample_weights


def slow_front(vectors):
    distinct = {tuple(np.round(v, 6)) for v in vectors.tolist() if any(v)}
    dominated = {a for a in distinct for b in distinct if a != b and all(y >= x for x, y in zip(a, b, strict=True))}
    return np.array(sorted(distinct - dominated)).reshape(-1, vectors.shape[1])


def slow_volume(vectors):
    """Inclusion and exclusion over all subsets: the volume of an intersection of boxes is that of their minima."""
    low, total = -0.1, 0.0
    for size in range(1, len(vectors) + 1):
        for subset in combinations(vectors, size):
            total += (-1) ** (size + 1) * np.prod(np.min(subset, axis=0) - low)
    return total


def slow_eum(vectors, weights):
    return sum(max(sum(a * b for a, b in zip(w, v, strict=True)) for v in vectors) for w in weights) / len(weights)


def slow_igd_plus(vectors, front):
    return np.mean([min(np.sqrt(sum(max(f - v, 0) ** 2 for f, v in zip(z, a, strict=True))) for a in vectors)
                    for z in front])  # fmt: skip


def slow_epsilon(vectors, front):
    return max(min(max(f - v for f, v in zip(z, a, strict=True)) for a in vectors) for z in front)


def slow_sparsity(vectors):
    total = 0.0
    for column in vectors.T:
        ordered = sorted(column)
        total += sum((b - a) ** 2 for a, b in pairwise(ordered))
    return total / (len(vectors) - 1) if len(vectors) > 1 else 0.0


@st.composite
def sets(draw, least=1):
    k = draw(st.integers(2, 4))
    rows = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.9, 1.0]), min_size=k, max_size=k)
    return tuple(np.array(draw(st.lists(rows, min_size=least, max_size=7)), float) for _ in range(2))


@settings(max_examples=60, deadline=None)
@given(sets())
def test_against_slow_references(pair):
    vectors, front = slow_front(pair[0]), slow_front(pair[1])
    assert np.allclose(found_front(pair[0]), vectors, atol=1e-5)
    weights = sample_weights(8, pair[0].shape[1], rng=1)
    origin = np.zeros((1, pair[0].shape[1]))
    given_set = vectors if len(vectors) else origin
    assert volume(vectors) == pytest.approx(slow_volume(vectors))
    assert expected_utility(vectors, weights) == pytest.approx(slow_eum(given_set, weights))
    assert sparsity(vectors) == pytest.approx(slow_sparsity(vectors))
    if len(front):
        assert igd_plus(vectors, front) == pytest.approx(slow_igd_plus(given_set, front))
        assert epsilon(vectors, front) == pytest.approx(slow_epsilon(given_set, front))
        hits = [any(np.allclose(z, v) for v in vectors) for z in front]
        assert front_found(vectors, front) == pytest.approx(np.mean(hits))


def test_against_morl_baselines():
    theirs = pytest.importorskip("morl_baselines.common.performance_indicators")
    rng = np.random.default_rng(0)
    vectors = found_front(rng.random((12, 4)))
    weights = sample_weights(16, 4, rng=1)
    assert len(vectors) > 3
    assert volume(vectors) == pytest.approx(theirs.hypervolume(np.full(4, -0.1), list(vectors)))
    assert expected_utility(vectors, weights) == pytest.approx(theirs.expected_utility(list(vectors), list(weights)))
    assert sparsity(vectors) == pytest.approx(theirs.sparsity(list(vectors)))
    assert len(vectors) == theirs.cardinality(list(vectors))


def test_an_empty_set_is_the_worst():
    front = np.array([[1.0, 0.5], [0.5, 1.0]])
    zeros = measure(np.zeros((1, 3, 2)), [front], np.full((1, 2), 0.5))
    assert {name: values.tolist() for name, values in zeros.items()} == {
        "hypervolume": [0.0], "eum": [0.0], "igd_plus": [pytest.approx(np.sqrt(1.25))], "epsilon": [1.0],
        "front_found": [0.0], "sparsity": [0.0], "cardinality": [0.0],
    }  # fmt: skip
    perfect = measure(front[None], [front], np.full((1, 2), 0.5))
    assert [perfect[name].item() for name in OF_FRONT] == [0.0, 0.0, 1.0]


def test_without_a_front_and_with_objectives_that_a_problem_lacks():
    vectors = np.array([[[1.0, 0.5, 0.0], [0.5, 1.0, 0.0]]] * 2)
    masks = np.array([[True, True, True], [True, True, False]])
    weights = np.array([[0.2, 0.2, 0.6]])
    out = measure(vectors, None, weights, masks)
    assert set(out) == set(INDICATORS) - set(OF_FRONT)
    assert out["eum"] == pytest.approx([0.3, 0.75])
    two = volume(np.array([[1.0, 0.5], [0.5, 1.0]]))
    assert out["hypervolume"] == pytest.approx([0.1 * two, two])


def test_a_hypervolume_of_many_objectives_is_left_out():
    out = measure(np.ones((1, 1, 9)), None, np.full((1, 9), 1 / 9))
    assert np.isnan(out["hypervolume"]).all()
    assert out["eum"] == pytest.approx([1.0])
