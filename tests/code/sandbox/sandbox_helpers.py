"""Running the tables of programs, here or as another user."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import sandbox_programs

import vpo_envs.code.sandbox

NOBODY = 65534
EVERYTHING = """
import os, sys, warnings
from sandbox_programs import AFTER, HONEST, HOSTILE, PASS
from vpo_envs.code.sandbox import Sandbox

folder = sys.argv[1]
assert os.getuid() != 0, "not an ordinary user"
warnings.simplefilter("error")
with Sandbox(workers=1) as sandbox:
    print(sandbox.report())
    for program in HONEST + HOSTILE:
        verdicts = program.run(sandbox, folder)
        if not program.verdicts.issuperset(verdicts) or AFTER.run(sandbox) != [PASS]:
            print("FAULT:", program.name, verdicts)
print("programs:", len(HONEST), len(HOSTILE))
"""


def folder_with_a_secret(folder: Path) -> str:
    """A folder for hostile programs to attack."""
    folder.chmod(0o777)
    (folder / "secret").write_text(sandbox_programs.BROKEN)
    (folder / "secret").chmod(0o666)
    return str(folder)


def is_unharmed(folder: str) -> bool:
    """Whether a folder with a secret is as it was."""
    (entry,) = Path(folder).iterdir()
    return (
        entry.name == "secret"
        and entry.read_text() == sandbox_programs.BROKEN
        and entry.stat().st_mode & 0o777 == 0o666
    )


def interpreter_for(user: int) -> str | None:
    """A Python that another user can start: the one that runs the tests, or the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        command = [python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            if subprocess.run(command, user=user, group=user, extra_groups=[], cwd="/").returncode == 0:
                return python
        except OSError:
            continue
    return None


def copy_for_others(folder: Path) -> Path:
    """The sandbox and the tables, without the rest of the package, where every user can read them."""
    sandbox = folder / "vpo_envs" / "code" / "sandbox"
    shutil.copytree(Path(vpo_envs.code.sandbox.__file__).parent, sandbox, ignore=shutil.ignore_patterns("__pycache__"))
    for package in (sandbox.parent, sandbox.parent.parent):
        (package / "__init__.py").write_text("")
    for file in ("sandbox_programs.py", "sandbox_hostile.txt", "sandbox_honest.txt"):
        shutil.copy(Path(__file__).parent / file, folder)
    (folder / "everything.py").write_text(EVERYTHING)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder / "everything.py"
