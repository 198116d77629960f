"""Hostile programs harm nothing and earn nothing, honest ones pass: with all layers, with fewer, and for any user."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_helpers import CROWD, EVERYTHING, is_unharmed, run_as_nobody
from sandbox_programs import AFTER, HONEST, HOSTILE, PASS, Program

from vpo_envs.code.sandbox import Sandbox


@pytest.fixture(scope="module")
def bare_sandbox() -> Iterator[Sandbox]:
    """Without Landlock and namespaces, as on an old kernel or in a strict container."""
    with Sandbox(workers=1, _without=("landlock", "namespaces")) as sandbox:
        with pytest.warns(RuntimeWarning) as warned:
            report = sandbox.report()
        assert [str(w.message).split(":")[1] for w in warned] == [" no Landlock", " no namespaces"]
        assert (report.landlock, report.namespaces, report.faults) == (0, (), ())
        yield sandbox


def name_of(program: Program) -> str:
    return program.name


@pytest.mark.parametrize("program", HOSTILE, ids=name_of)
def test_a_hostile_program_earns_nothing_and_harms_nothing(sandbox: Sandbox, program: Program, victim: str) -> None:
    assert program.verdicts.issuperset(program.run(sandbox, victim))
    assert AFTER.run(sandbox) == [PASS]
    assert is_unharmed(victim)


@pytest.mark.parametrize("program", HONEST, ids=name_of)
def test_an_honest_program_passes(sandbox: Sandbox, program: Program) -> None:
    assert set(program.run(sandbox)) == {PASS}


@pytest.mark.parametrize("program", HOSTILE, ids=name_of)
def test_a_hostile_program_where_layers_are_missing(bare_sandbox: Sandbox, program: Program, victim: str) -> None:
    assert program.verdicts.issuperset(program.run(bare_sandbox, victim))
    assert AFTER.run(bare_sandbox) == [PASS]
    assert is_unharmed(victim)


@pytest.mark.parametrize("program", [p for p in HONEST if not p.imports], ids=name_of)
def test_an_honest_program_where_layers_are_missing(bare_sandbox: Sandbox, program: Program) -> None:
    assert set(program.run(bare_sandbox)) == {PASS}


def test_no_hostile_program_is_meant_to_pass() -> None:
    assert not any(PASS in program.verdicts for program in HOSTILE)
    assert len(HOSTILE) > 150


@pytest.mark.skipif(os.getuid() != 0, reason="the tests above have run as an ordinary user")
def test_the_same_for_an_ordinary_user(victim: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = run_as_nobody(Path(folder), EVERYTHING, victim)
    assert "FAULT" not in run.stdout
    assert f"programs: {len(HONEST)} {len(HOSTILE)}" in run.stdout
    assert is_unharmed(victim)


@pytest.mark.skipif(os.getuid() != 0, reason="needs a user who has no other processes")
def test_where_the_threads_of_one_program_leave_no_room_no_score_is_lost() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = run_as_nobody(Path(folder), CROWD)
    assert run.stdout.splitlines() == ["['time limit']", "['runtime error']", "['runtime error']"]
