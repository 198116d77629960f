"""The program on the page about the sandbox runs and prints what the page says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from docs_helpers import programs


def test_the_program_on_the_page_prints_what_it_states(tmp_path: Path) -> None:
    ((name, program, stated),) = programs("sandbox.md")
    (tmp_path / name).write_text(program)
    run = subprocess.run([sys.executable, "-W", "error", name], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == stated
