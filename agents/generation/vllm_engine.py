"""Building vLLM's engine, and keeping what it does to the process out of the rest of the program."""

from __future__ import annotations

import logging
import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from agents.config import EngineConfig
from agents.config_checks import check_engine

HARMLESS = {
    "vllm.engine.arg_utils": (
        "The global random seed is set to",  # `kept_random_state` puts it back
        "does not officially support disabling chunked prefill",  # the tests compare with transformers
    ),
    "vllm.config.vllm": ("Enforce eager set", "Inductor compilation was disabled"),  # as we asked
    "vllm.model_executor.model_loader.reload.layerwise": ("ParallelLMHead: Failed to load weights",),  # a tied head
    "vllm.renderers.base": ("Using None for EOS token id",),  # what ends a response comes with each request
    "vllm.triton_utils.dispatcher": ("is already registered",),  # a second engine in this process
    "vllm.v1.worker.cpu_worker": ("doesn't allow to use `torch.set_num_threads`",),  # `build_engine` puts it back
}
"""Warnings of vLLM that are no news here, by logger; all others are shown."""


LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "TORCHELASTIC_USE_AGENT_STORE")
"""What torchrun and accelerate tell a training process: an engine is a world of its own, of one process."""


def build_engine(
    model: PreTrainedModel, config: EngineConfig, max_model_len: int, rows: int, dtype: torch.dtype
) -> tuple[Any, bool]:
    """An engine for models like this one, with dummy weights, and whether it runs in a process of its own.

    It is made from the model's configuration alone: nothing is read from the hub, and no weights are written to disk.

    Args:
        max_model_len: longest prompt and response together, in tokens.
        rows: responses that are generated side by side.
        dtype: what the engine computes in.

    Raises:
        ValueError: vLLM does not know the model, or refuses an option.
    """
    on_cuda = model.device.type == "cuda"
    alone = config.multi_process
    several = torch.distributed.is_available() and torch.distributed.is_initialized()
    several = several and torch.distributed.get_world_size() > 1
    if alone is None:
        alone = several
    if several and not alone:
        raise ValueError("--engine.multi-process False: training in several processes needs engines of their own")
    check_engine(config)
    if config.sleep and not on_cuda:
        raise ValueError("--engine.sleep works with CUDA only")
    cache = config.cache_gib if on_cuda or config.memory_share is not None else config.cache_gib or 1.0
    # vLLM takes some options from the environment only.
    variables = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": str(int(alone)),
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",  # a fork of a process with threads may hang
        "VLLM_LOGGING_STREAM": "ext://sys.stderr",
        "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "WARNING"),
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # engines of several processes would all take the first core
        "OMP_NUM_THREADS": str(config.threads),
    }
    if on_cuda:
        variables |= _device(model.device, alone)
    with environment(variables), threads(config.threads), kept_random_state(), tempfile.TemporaryDirectory() as folder:
        set_num_threads = torch.set_num_threads  # the CPU build replaces it by a function that does nothing
        try:
            from vllm.distributed.parallel_state import model_parallel_is_initialized
            from vllm.engine.arg_utils import EngineArgs
            from vllm.v1.engine.llm_engine import LLMEngine

            if model_parallel_is_initialized() and not alone:
                raise ValueError("another vLLM engine runs in this process; close it first")  # they share global state
            for name in HARMLESS:
                logging.getLogger(name).addFilter(_is_news)
            model.config.save_pretrained(folder)
            arguments = EngineArgs(
                model=folder,
                skip_tokenizer_init=True,
                load_format="dummy",
                dtype=str(dtype).removeprefix("torch."),
                max_model_len=max_model_len,
                max_num_seqs=rows,
                gpu_memory_utilization=config.memory_share or 0.5,
                kv_cache_memory_bytes=None if cache is None else int(cache * 2**30),
                enforce_eager=not on_cuda if config.eager is None else config.eager,
                enable_prefix_caching=config.prefix_caching,
                # A prompt that is read in pieces makes the CPU build rewind its random generator, which fails.
                enable_chunked_prefill=on_cuda,
                max_num_batched_tokens=None if on_cuda else max(max_model_len, rows, 4096),
                logprobs_mode="processed_logprobs",
                generation_config="vllm",
                enable_sleep_mode=on_cuda and config.sleep is not False,
                worker_extension_cls="agents.generation.vllm_worker.WeightLoader",
                disable_log_stats=True,
                seed=0,
            )
            return LLMEngine.from_engine_args(arguments, enable_multiprocessing=alone), alone
        except (ValueError, NotImplementedError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"vLLM cannot run {type(model).__name__} with these options: {reason}") from error
        finally:
            torch.set_num_threads = set_num_threads


def _device(device: torch.device, alone: bool) -> dict[str, str]:
    """What makes the engine use the model's own CUDA device: it takes the first one that it sees."""
    index = device.index or 0
    if not alone:
        if index:
            raise ValueError(
                f"--device {device}: an engine in this process works on cuda:0 only; set CUDA_VISIBLE_DEVICES, or give "
                "--engine.multi-process True"
            )
        return {}
    seen = os.environ.get("CUDA_VISIBLE_DEVICES")
    return {"CUDA_VISIBLE_DEVICES": seen.split(",")[index] if seen else str(index)}


def _is_news(record: logging.LogRecord) -> bool:
    message = record.getMessage()
    return not any(known in message for known in HARMLESS[record.name])


@contextmanager
def kept_random_state() -> Iterator[None]:
    """Put the global random generators back afterwards: building an engine seeds them, generating draws from them."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002


@contextmanager
def threads(number: int) -> Iterator[None]:
    """CPU threads of torch, and of the engine in this process."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables and hide the launcher's; afterwards all are as they were."""
    before = dict(os.environ)
    for name in LAUNCHER:
        os.environ.pop(name, None)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)
