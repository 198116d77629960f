"""Policies side by side: equal budgets, paired differences, JSON and tables."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from evaluation_helpers import random_result
from rich.console import Console

from agents.comparison import Comparison
from agents.config import EvaluationConfig


def pair() -> Comparison:
    fronts = [np.ones((1, 3), np.float32)] * 5
    return Comparison([random_result("one", fronts=fronts), random_result("two", seed=9, n=6, m=1, fronts=fronts)])


def test_equal_tokens_by_counting():
    thrifty = random_result("thrifty", n=6, m=1, tokens=np.full((5, 6), 10))
    lavish = random_result("lavish", seed=1, n=2, m=3, tokens=np.full((5, 2), 77))
    comparison = Comparison([lavish, thrifty])
    # 60 tokens a problem are the budget; the lavish answers take 154 / 6 = 25.7 tokens each, two of them fit.
    assert comparison.equal_token_ks == [2, 6]
    (k, best, expected), (all_, _, _) = comparison.best_at_equal_tokens
    assert (k, all_) == (2, 6)
    assert best == lavish.metrics()["best@2"]
    assert expected == lavish.metrics()["ew_best@2"]
    endless = replace(lavish, label="endless", tokens=np.full((5, 2), 10**6))
    assert Comparison([thrifty, endless]).equal_token_ks == [6, 1]


def test_differences_are_paired():
    base = random_result("base")
    better = replace(base, label="better", rewards=base.rewards + np.float32(0.25) * base.answered[..., None])
    (difference,) = Comparison([base, better]).differences
    gains = better.per_prompt["best@1"] - base.per_prompt["best@1"]
    assert difference["best@1"].value == pytest.approx(gains.mean())
    # Between the problems the gain varies far less than the value does.
    assert gains.min() <= difference["best@1"].low <= difference["best@1"].high <= gains.max()
    assert difference["tokens_per_answer"].value == 0


def test_json_holds_every_figure():
    mask = np.array([[1, 1, 0]] + [[1, 1, 1]] * 4, bool)
    comparison = Comparison([random_result("one", objective_mask=mask), random_result("two", objective_mask=mask)])
    data = json.loads(comparison.to_json())
    assert data == comparison.to_dict()
    assert data["evaluation"] == {"problems": 5, "first": 0, "answers": 6, "ks": [1, 2, 50], "temperature": 0.7,
                                  "top_p": None, "weights": 7, "prompt_weights": "auto", "seed": 3}  # fmt: skip
    assert [p["label"] for p in data["policies"]] == ["one", "two"]
    for result, policy in zip(comparison.results, data["policies"], strict=True):
        assert policy["metrics"].keys() == result.per_prompt.keys()
        for name, estimate in result.metrics().items():
            assert policy["metrics"][name] == {"value": estimate.value, "low": estimate.low, "high": estimate.high}
            values = [np.nan if v is None else v for v in policy["per_prompt"][name]]
            np.testing.assert_array_equal(values, result.per_prompt[name])
        assert len(policy["curves"]["best"]) == len(policy["curves"]["ew_best"]) == len(data["curve_ks"])
        assert policy["curves"]["best"][0] == policy["metrics"]["best@1"]
    assert data["policies"][0]["per_prompt"]["objective/objective 2"][0] is None  # the first problem has no such one
    assert data["differences"][0]["metrics"]["best@1"]["value"] == 0
    assert data["ceiling"] == {}
    assert json.loads(pair().to_json())["ceiling"]["best@1"]["value"] == pytest.approx(1)


def test_tables_show_policies_ceiling_and_values():
    comparison = pair()
    out = io.StringIO()
    comparison.print(Console(file=out))
    text = out.getvalue()
    for word in ("one (m=2)", "two (m=1)", "ceiling (exact front)", "best@1", "equal tokens", "regret", "objective 0"):
        assert word in text
    for result in comparison.results:
        assert str(result.metrics()["best@2"]) in text
        assert f"{result.metrics()['ew_best_of_set'].value:.3f}" in text
    assert "ceiling" not in _printed(Comparison([random_result()]))
    assert "Minus" not in _printed(Comparison([random_result()]))


def _printed(comparison: Comparison) -> str:
    out = io.StringIO()
    comparison.print(Console(file=out))
    return out.getvalue()


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ([], "no policy"),
        ([random_result("a"), random_result("a")], "different labels, not a, a"),
        ([random_result("a"), random_result("b", env_args=())], "a and b were evaluated with different env_args"),
        ([random_result("a"), random_result("b", config=EvaluationConfig(answers=6))], "different config"),
    ],
)
def test_what_cannot_be_compared(others, message):
    with pytest.raises(ValueError, match=message):
        Comparison(others)
