"""Running the tables of programs, here or as another user."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
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

CROWD = """
import resource
from sandbox_programs import AFTER, PASS
from vpo_envs.code.sandbox import CallTest, Job, Limits, Sandbox, StdinTest, make_check

threads = "import threading, time\\nthreading.stack_size(32768)\\nfor _ in range(%d):\\n"
threads += " try: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()\\n"
threads += " except RuntimeError: time.sleep(0.001)\\n"
bomb = Job(threads % 10**9, (StdinTest("", ""),) * 3)
crash = Job("import os\\nos.abort()", (StdinTest("", ""),) * 9)  # needs a fork for each test
full = Job(threads % 300 + "def f(): return 1", make_check("", "def check(c): assert c() == 1"), "f")
with Sandbox(workers=2, limits=Limits(seconds=0.5, wall_factor=1)) as sandbox:
    sandbox.run_batch([crash] * 2)
    for worker in sandbox._workers:
        resource.prlimit(worker.pid, resource.RLIMIT_NPROC, (200, 200))  # of this user, threads included
    for results in sandbox.run_batch([bomb, crash, full]):
        print(sorted({result.verdict.value for result in results}))
    assert AFTER.run(sandbox) == [PASS]
"""


def run_as_nobody(folder: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program that needs the sandbox and the tables only, as another user. Skips where that cannot be."""
    if (python := interpreter_for(NOBODY)) is None:
        pytest.skip("no Python 3.11 or newer that another user could start")
    file = copy_for_others(folder, script)
    run = subprocess.run(
        [python, str(file), *arguments],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run


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


def copy_for_others(folder: Path, script: str) -> Path:
    """The script, the sandbox and the tables, without the rest of the package, where every user can read them."""
    sandbox = folder / "vpo_envs" / "code" / "sandbox"
    shutil.copytree(Path(vpo_envs.code.sandbox.__file__).parent, sandbox, ignore=shutil.ignore_patterns("__pycache__"))
    for package in (sandbox.parent, sandbox.parent.parent):
        (package / "__init__.py").write_text("")
    for file in ("sandbox_programs.py", "sandbox_hostile.txt", "sandbox_honest.txt"):
        shutil.copy(Path(__file__).parent / file, folder)
    (folder / "script.py").write_text(script)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder / "script.py"
