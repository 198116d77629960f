"""docs/methods.md lists every estimator, with its options and what it needs, and its example runs."""

from __future__ import annotations

import re
from pathlib import Path

import torch

from agents.advantages import ESTIMATORS, NEEDS_PROMPT_WEIGHTS, ONE_ANSWER, PER_ANSWER, estimator_options

PAGE = (Path(__file__).parents[2] / "docs" / "methods.md").read_text()
ROWS = {
    cells[0].strip(" `"): [cell.strip(" `") for cell in cells[1:]]
    for cells in (line.strip("|").split("|") for line in PAGE.splitlines())
    if len(cells) == 5 and cells[0].startswith(" `")
}


def test_every_estimator_has_a_row() -> None:
    assert list(ROWS) == list(ESTIMATORS)


def test_needs_and_options() -> None:
    for name, (_, source, needs, options) in ROWS.items():
        assert source
        assert ("m = 1" in needs) == (name in ONE_ANSWER)
        assert ("prompt_weights" in needs) == (name in NEEDS_PROMPT_WEIGHTS)
        assert (f"`{name}`" in PAGE.split("**Credit per answer.**")[1].split("**")[0]) == (
            name in PER_ANSWER or name == "vpo"
        )
        defaults = " ".join(f"{option}={value}" for option, value in estimator_options(name).items())
        assert options == ("as `vpo" if name == "vpo_shapley" else defaults)


def test_the_example_runs() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(program, names)
    advantages = names["advantages"]
    assert isinstance(advantages, torch.Tensor)
    assert advantages.shape == (24, 8)
