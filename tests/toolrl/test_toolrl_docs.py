"""The page about tool calling: its program prints what the page says, and its numbers are true."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from docs_helpers import DOCS, programs

from vpo_envs.toolrl import ToolRLTask
from vpo_envs.toolrl.catalogue import DETAILS, THINGS
from vpo_envs.toolrl.generator import SKILLS


def test_the_program_on_the_page_prints_what_it_states(tmp_path: Path) -> None:
    [(name, program, stated)] = programs("toolrl.md")
    (tmp_path / name).write_text(program)
    run = subprocess.run([sys.executable, "-W", "error", name], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == stated


def test_the_numbers_on_the_page_are_those_of_the_catalogue() -> None:
    page = " ".join((DOCS / "toolrl.md").read_text().split())
    names = {f"{verb}_{noun}" for action, thing in SKILLS for verb in action.verbs for noun in thing.nouns}
    assert f"{len(THINGS)} things" in page
    assert f"make {len(SKILLS)} skills and, with two verbs and two nouns for each, {len(names)} tool names" in page
    assert f"two for each of {len(DETAILS)} details" in page


def test_the_class_tells_what_earns_each_objective() -> None:
    manual = ToolRLTask.__doc__ or ""
    sections = ("Description", "Answer", "Rewards", "Arguments", "Version History")
    assert [manual.index(f"## {title}") for title in sections] == sorted(manual.index(f"## {t}") for t in sections)
    assert all(f"| `{objective.name}`" in manual for objective in ToolRLTask.objectives)
