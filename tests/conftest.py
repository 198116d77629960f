"""What all tests share: where the samples of the real data sets are, and polite use of the processor."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--real-data",
        metavar="FOLDER",
        default=os.environ.get("VPO_REAL_DATA"),
        help="folder with samples of the real data sets, one sub-folder each (default: $VPO_REAL_DATA)",
    )


def pytest_collection_finish() -> None:
    # Collection has imported the test modules, so torch is there if any of them wants it. The tests' models are tiny:
    # more threads than this cost more than they save.
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(min(2, torch.get_num_threads()))


@pytest.fixture(scope="session")
def real_data(request: pytest.FixtureRequest) -> Path:
    """The folder of real data samples; skips where none was named, fails where the named one is missing."""
    option = request.config.getoption("--real-data")
    if not option:
        pytest.skip("no real data: name its folder with --real-data or VPO_REAL_DATA")
    folder = Path(option)
    if not folder.is_dir():
        pytest.fail(f"real data: {folder} is not a folder")
    return folder
