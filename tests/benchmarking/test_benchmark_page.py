"""docs/benchmarking.md shows what the committed result files say, and these were made with today's options."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agents.benchmarking.config import STUDIES, BenchmarkConfig, algorithm_names, study_config
from agents.benchmarking.registry import ALGORITHMS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "benchmarking.md").read_text()
TABLES = re.findall(r"<!-- from (results/\S+) -->\n((?:\|.*\n)+)", PAGE)


def folder_of(config: BenchmarkConfig) -> str:
    """Where the results of a study go, without making its environment."""
    return f"results/{config.env.rpartition('/')[2]}/{config.study}"


@pytest.mark.parametrize(("source", "table"), TABLES)
def test_a_table_is_that_of_the_results(source: str, table: str) -> None:
    lines = (ROOT / source).read_text().splitlines()
    assert not [row for row in table.splitlines() if row not in lines]


@pytest.mark.parametrize("name", STUDIES)
def test_results_were_made_with_the_options_of_the_study(name: str) -> None:
    config = study_config(name)
    made = json.loads((ROOT / folder_of(config) / "benchmark.json").read_text())["configuration"]
    for option in ("env", "env_args", "problem", "steps", "seeds", "gamma", "num_solutions", "eval_problems"):
        wanted = getattr(config, option)
        assert made[option] == (list(wanted) if isinstance(wanted, tuple) else wanted), option
    assert made["algos"] == algorithm_names(config)


def test_the_page_has_every_study_and_every_algorithm() -> None:
    shown = {source for source, _ in TABLES}
    assert shown == {f"{folder_of(study_config(name))}/table.md" for name in STUDIES}
    rows = {row.split("|")[1].strip() for source, table in TABLES if "/maze/" in source for row in table.splitlines()}
    assert set(ALGORITHMS) <= rows
    names = "\n".join(row.split("|")[1] for row in PAGE.splitlines() if row.startswith("| `"))
    assert set(ALGORITHMS) <= set(re.findall(r"`([\w-]+)`", names))
