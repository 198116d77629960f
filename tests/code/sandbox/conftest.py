"""One sandbox for all tests of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_helpers import folder_with_a_secret

from vpo_envs.code.sandbox import Sandbox


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.alone)  # time limits of a second, threads by the hundred


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=1) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def victim() -> Iterator[str]:
    """A folder that hostile programs attack."""
    with tempfile.TemporaryDirectory() as folder:
        yield folder_with_a_secret(Path(folder))
