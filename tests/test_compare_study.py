"""Means, differences and ratios over seeds and problems, against slow references, and pools that survive a file."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluation_helpers import random_result

from agents.comparison import Comparison
from agents.evaluation import PolicyResult
from agents.study.plots import plot_study
from agents.study.report import Report
from agents.study.saved_results import load_result, save_result
from agents.study.study import EQUAL_TOKENS, Study
from vpo_envs.bootstrap import bootstrap_interval, crossed_bootstrap_means, percentile_interval

FRONTS = [np.ones((1, 3), np.float32)] * 5


def study(seeds: int = 3, **changes: Any) -> Study:
    labels = ("grpo", "vpo", "start")
    pools = {
        label: [random_result(label, seed=10 * i + s, fronts=FRONTS, **changes) for s in range(seeds)]
        for i, label in enumerate(labels)
    }
    pools["start"] = [pools["start"][0]] * seeds  # no training, no seeds
    return Study(range(seeds), pools)


# ---- the crossed bootstrap --------------------------------------------------------------------------------------


def slow_crossed_means(values: np.ndarray, resamples: int, seed: int) -> list[float]:
    """Draw seeds and prompts one by one, and average what they cross at."""
    rng = np.random.default_rng(seed)
    s, p = values.shape
    return [
        float(np.mean([[values[i, j] for j in prompts] for i in seeds]))
        for seeds, prompts in ((rng.integers(s, size=s), rng.integers(p, size=p)) for _ in range(resamples))
    ]


@pytest.mark.parametrize("shape", [(1, 12), (3, 12), (4, 1), (2, 40)])
def test_crossed_bootstrap_against_a_slow_one(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=shape) + rng.normal(size=(shape[0], 1)) + rng.normal(size=(1, shape[1]))
    fast, slow = crossed_bootstrap_means(values, 20_000), slow_crossed_means(values, 4_000, seed=2)
    error = np.std(slow) / np.sqrt(len(slow))  # the draws differ, so they agree up to noise: 5 standard errors
    assert fast.mean() == pytest.approx(np.mean(slow), abs=5 * error + 1e-12)
    assert fast.mean() == pytest.approx(values.mean(), abs=5 * error + 1e-12)
    assert fast.std() == pytest.approx(np.std(slow), rel=0.08)
    np.testing.assert_allclose(percentile_interval(fast), percentile_interval(slow), atol=0.15 * np.std(slow))


def test_the_variance_is_that_of_the_crossed_design() -> None:
    """Without interaction it is the variance of the mean over seeds plus that over prompts (each divided by its n)."""
    rng = np.random.default_rng(3)
    seeds, prompts = rng.normal(size=5), rng.normal(size=30)
    means = crossed_bootstrap_means(seeds[:, None] + prompts, resamples=50_000)
    assert means.var() == pytest.approx(seeds.var() / 5 + prompts.var() / 30, rel=0.05)
    # Resampling prompts alone would leave out what another seed would change.
    alone = crossed_bootstrap_means((seeds[:, None] + prompts).mean(0, keepdims=True), resamples=50_000)
    assert alone.var() < 0.3 * means.var()


def test_one_seed_is_the_bootstrap_over_prompts() -> None:
    values = np.random.default_rng(4).random(60)
    np.testing.assert_allclose(
        percentile_interval(crossed_bootstrap_means(values[None], 50_000)),
        bootstrap_interval(values, resamples=50_000),
        atol=0.003,
    )


def test_the_same_draws_for_every_method() -> None:
    values = np.random.default_rng(5).random((3, 20))
    np.testing.assert_allclose(crossed_bootstrap_means(values + 0.5), crossed_bootstrap_means(values) + 0.5)


@pytest.mark.parametrize("values", [[1.0], [[]], [[1.0, np.nan]]])
def test_what_cannot_be_resampled(values: Any) -> None:
    with pytest.raises(ValueError, match="finite array"):
        crossed_bootstrap_means(values)
    with pytest.raises(ValueError, match="resamples must be at least 1"):
        crossed_bootstrap_means([[1.0]], resamples=0)


# ---- the study --------------------------------------------------------------------------------------------------


def test_means_are_over_seeds_and_problems() -> None:
    s = study()
    for label, results in s.results.items():
        assert s.mean(label, "best@2").value == pytest.approx(np.mean([r.best(2) for r in results]))
        difference = s.difference("vpo", label, "ew_best@2")
        expected = [a.expected_best(2) - b.expected_best(2) for a, b in zip(s.results["vpo"], results, strict=True)]
        assert difference.value == pytest.approx(np.mean(expected))
        assert difference.low <= difference.value <= difference.high
    assert s.ratio("vpo", "grpo", "best@2").value == pytest.approx(
        s.mean("vpo", "best@2").value / s.mean("grpo", "best@2").value
    )
    assert s.ratio("grpo", "grpo", "best@2").low == s.ratio("grpo", "grpo", "best@2").high == 1


def test_differences_are_paired_by_seed_and_problem() -> None:
    base = study().results["grpo"]
    better = [replace(r, rewards=r.rewards + np.float32(0.25) * r.answered[..., None]) for r in base]
    s = Study(range(3), {"base": base, "better": better})
    gains = s.values["better"]["best@1"] - s.values["base"]["best@1"]
    difference = s.difference("better", "base", "best@1")
    assert gains.min() <= difference.low <= difference.high <= gains.max()
    apart = s.mean("base", "best@1")
    assert difference.high - difference.low < apart.high - apart.low


def test_one_seed_says_what_a_comparison_says() -> None:
    s = study(1)
    comparison = Comparison([results[0] for results in s.results.values()])
    for label, metrics in zip(s.labels, comparison.metrics, strict=True):
        for name in metrics:
            assert s.mean(label, name).value == pytest.approx(metrics[name].value)
    assert [ks[0] for ks in s.equal_token_ks.values()] == comparison.equal_token_ks
    for label, (_, best, _) in zip(s.labels, comparison.best_at_equal_tokens, strict=True):
        assert s.mean(label, EQUAL_TOKENS).value == pytest.approx(best.value)
    assert {n: e.value for n, e in s.ceiling.items()} == {n: e.value for n, e in comparison.ceiling.items()}


def test_objectives_that_some_problems_lack() -> None:
    mask = np.array([[1, 1, 0]] + [[1, 1, 1]] * 4, bool)
    s = study(objective_mask=mask)
    assert s.values["vpo"]["objective/objective 2"].shape == (3, 4)
    assert np.isfinite(s.difference("vpo", "grpo", "objective/objective 2").value)


def test_what_is_no_study() -> None:
    one = random_result("one")
    for seeds, results, message in (
        ([], {"one": []}, "at least one method and one seed"),
        ([0, 1], {"one": [one]}, "one has 1 results for 2 seeds"),
        ([0, 1], {"one": [one, replace(one, env_args=())]}, "different env_args"),
        ([0], {"one": [one], "two": [replace(one, problems=[5, 6, 7, 8, 9])]}, "one and two .* different problems"),
    ):
        with pytest.raises(ValueError, match=message):
            Study(seeds, results)


# ---- files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fronts": FRONTS, "objective_mask": np.ones((5, 3), bool)},
        {"prompt_weights": "random", "asked_weights": np.random.default_rng(0).random((5, 3, 3))},
    ],
)
def test_a_result_comes_back_from_its_file(changes: dict[str, Any], tmp_path: Path) -> None:
    result = random_result(**changes)
    save_result(result, tmp_path / "pool.json")
    loaded = load_result(tmp_path / "pool.json")
    for field in fields(PolicyResult):
        a, b = getattr(result, field.name), getattr(loaded, field.name)
        np.testing.assert_equal(a, b)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
    assert loaded.metrics() == result.metrics()
    assert [path.name for path in tmp_path.iterdir()] == ["pool.json"]


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"label": "x", "extra": 1}'])
def test_a_file_that_is_no_result(text: str, tmp_path: Path) -> None:
    (tmp_path / "pool.json").write_text(text)
    with pytest.raises(ValueError, match=r"pool.json is not an evaluation .*remove it"):
        load_result(tmp_path / "pool.json")


def test_a_report_of_methods_that_solve_nothing(tmp_path: Path) -> None:
    """Ratios to nothing are absent, and the files are still whole."""
    nothing = random_result("nothing", rewards=np.zeros((5, 3, 2, 3), np.float32))
    s = Study([0], {"nothing": [nothing], "one": [random_result("one")]})
    facts: list[dict[str, Any]] = [{"own_options": [], "training_seconds": None}]
    Report(s, {}, {"nothing": facts, "one": facts}, baseline="nothing", candidate="one").write(tmp_path)
    data = json.loads((tmp_path / "results.json").read_text())
    assert data["methods"][1]["ratio"]["best@1"] == {"value": None, "low": None, "high": None}
    assert "| one (m=2) | - |" in (tmp_path / "table.md").read_text()
    assert data["ceiling"] == {}
    assert plot_study(s, {}, tmp_path) == ["best_at_k.png"]


def test_the_pictures_of_more_methods_than_colours(tmp_path: Path) -> None:
    runs = {}
    pools = {f"method {i}": [random_result(f"{i}", seed=i)] for i in range(9)}
    for i, label in enumerate(pools):
        folder = tmp_path / label
        folder.mkdir()
        lines = [{"step": s, "diversity/group": 1 / (1 + s + i), "score/answer": i / 9} for s in range(20)]
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        runs[label] = [folder]
    assert plot_study(Study([0], pools), runs, tmp_path) == ["best_at_k.png", "diversity.png", "training.png"]
    assert (tmp_path / "diversity.png").stat().st_size > 20_000
