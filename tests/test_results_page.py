"""docs/results.md shows what the committed result files say, and these are complete."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_helpers import programs

from agents.presets import preset_defaults
from agents.study.config import STUDIES, study_defaults
from agents.study.methods import parse_methods
from agents.study.plan import place_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "results.md").read_text()
SOURCE = re.compile(r"<!-- from (results/\S+) -->\n((?:\|.*\n)+)")
TABLES = SOURCE.findall(PAGE)
FOLDERS = sorted({str(Path(source).parent) for source, _ in TABLES})


def test_the_page_names_the_source_of_its_tables() -> None:
    assert len(TABLES) >= 4


@pytest.mark.parametrize(("source", "table"), TABLES)
def test_a_table_is_that_of_the_results(source: str, table: str) -> None:
    lines = (ROOT / source).read_text().splitlines()
    missing = [row for row in table.splitlines() if row not in lines]
    assert not missing


@pytest.mark.parametrize("folder", FOLDERS)
def test_results_are_those_of_a_study(folder: str) -> None:
    """Made with the options that the study has today: every method, with the first seeds or all."""
    saved = json.loads((ROOT / folder / "results.json").read_text())
    configurations = {
        str(Path("results") / place_of(config)): config
        for (preset, env), studies in STUDIES.items()
        for config in (study_defaults(preset_defaults(preset, env), name) for name in studies)  # type: ignore[arg-type]
    }
    config = configurations[folder]
    assert tuple(saved["seeds"]) == config.seeds[: len(saved["seeds"])]
    assert [method["label"] for method in saved["methods"]] == [m.label for m in parse_methods(config.methods)]
    made = saved["configuration"]
    assert tuple(made["env_args"]) == config.env_args
    assert (made["steps"], made["prompts"], made["answers_per_prompt"]) == (
        config.steps, config.prompts, config.answers_per_prompt
    )  # fmt: skip
    assert made["learner"]["lr"] == config.learner.lr


def test_the_programs_print_what_the_page_states(tmp_path: Path) -> None:
    found = programs("results.md")
    assert found
    for name, program, stated in found:
        (tmp_path / name).write_text(program)
        run = subprocess.run(
            [sys.executable, "-W", "error", str(tmp_path / name)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout == stated


def test_pictures_are_there() -> None:
    pictures = re.findall(r"!\[[^\]]*\]\((\S+)\)", PAGE)
    assert len(pictures) >= 2
    assert all((ROOT / "docs" / picture).is_file() for picture in pictures)
