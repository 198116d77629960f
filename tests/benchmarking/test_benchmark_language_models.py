"""A language model plays the same problems as text, in the same table."""

from __future__ import annotations

import numpy as np
from benchmark_helpers import config

from agents.benchmark import benchmark
from agents.benchmarking.environments import CANDIDATES


def test_the_shipped_policy_on_mazes(tmp_path):
    options = {"algos": ("random", "llm:builtin"), "problem": None, "eval_problems": 6, "num_solutions": 6}
    result = benchmark(config(tmp_path, **options, algo_args=("llm:builtin.device=cpu",)))
    outcome = result.outcomes["llm:builtin"][0]
    assert outcome.vectors.shape == (6, 6, 4)
    assert outcome.steps is None
    assert result.mean("llm:builtin", "eum").value > 0.4 > result.mean("random", "eum").value
    # What is earned is attainable: the exact front of the same maze covers it.
    for p, front in enumerate(result.arena.fronts):
        for vector in outcome.vectors[p]:
            assert (vector <= front + 1e-6).all(axis=1).any() or not vector.any()
    assert "takes no environment steps" in result.notes["llm:builtin"]
    assert "| llm:builtin | - | 6 |" in result.cost_table
    again = benchmark(config(tmp_path / "b", **options, algo_args=("llm:builtin.device=cpu",)))
    assert np.array_equal(outcome.vectors, again.outcomes["llm:builtin"][0].vectors)


def test_what_it_cannot_do_becomes_a_note(tmp_path):
    own = {"env": CANDIDATES, "env_args": ("env_id=vpo/ToolRL-v0", "num_problems=20", "draws=8"), "eval_problems": 2}
    names = ("llm:runs/nowhere", "llm:builtin", "random")
    args = ("llm:builtin.num_answers=3", "llm:builtin.device=cpu")
    result = benchmark(config(tmp_path, **own, problem=None, algos=names, algo_args=args))
    assert list(result.outcomes) == ["random"]
    assert "runs/nowhere does not exist" in result.notes["llm:runs/nowhere"]
    assert "4 answers cannot be sampled as responses of 3" in result.notes["llm:builtin"]
