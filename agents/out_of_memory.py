"""Telling a lack of memory from other errors, and making room after one."""

from __future__ import annotations

import gc

import torch

REFUSED = (
    "can't allocate memory",  # on the CPU
    "not enough memory",  # on the CPU under Windows
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory could not be allocated; outside its CUDA allocator torch raises plain RuntimeErrors."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and any(words in str(error) for words in REFUSED)
    )


def free_memory() -> None:
    """Give back what is no longer referred to."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
