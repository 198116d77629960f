"""The page about programming: its program prints what the page says, and its numbers are true."""

from __future__ import annotations

import subprocess
import sys
from inspect import signature
from pathlib import Path

from docs_helpers import DOCS, programs

from vpo_envs.code import CodeTask
from vpo_envs.code.bank import ENTRIES
from vpo_envs.code.data_sets import END_DATE, FIRST_TEST_DATE, HUB_NAME
from vpo_envs.code.private_tests import MAX_BYTES
from vpo_envs.code.problems import MAX_TEST_BYTES, MAX_TESTS
from vpo_envs.code.sandbox import Verdict


def test_the_program_on_the_page_prints_what_it_states(tmp_path: Path) -> None:
    [(name, program, stated)] = programs("code.md")
    (tmp_path / name).write_text(program)
    run = subprocess.run([sys.executable, "-W", "error", name], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == stated


def test_the_numbers_on_the_page_and_in_the_class_are_those_of_the_code() -> None:
    page, manual = (" ".join(text.split()) for text in ((DOCS / "code.md").read_text(), CodeTask.__doc__ or ""))
    assert f"holds {len(ENTRIES)} small problems" in page
    assert f"the {MAX_TESTS} smallest tests are kept, smallest first, none above {MAX_TEST_BYTES >> 20} MiB" in page
    assert f"more than {MAX_BYTES >> 20} MiB is an error" in page
    for text in (page, manual):
        assert f"training before {FIRST_TEST_DATE}, testing from then on and before {END_DATE}" in text
        assert HUB_NAME in text
        assert all(verdict in text for verdict in Verdict)
        assert all(f"`{name}`" in text for name in list(signature(CodeTask).parameters))


def test_the_class_has_the_sections_of_a_manual() -> None:
    manual = CodeTask.__doc__ or ""
    sections = [manual.index(f"## {t}") for t in ("Description", "Answer", "Rewards", "Info", "Arguments", "Version")]
    assert sections == sorted(sections)
