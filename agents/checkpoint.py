"""Checkpoints that are either whole or not there.

A checkpoint is written into a hidden folder, flushed to disk, and then renamed, so that a process that is killed at any
moment leaves the previous checkpoint as the newest whole one.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from agents.lora import has_adapter, load_adapter, save_adapter

PREFIX = "step-"
WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Checkpoint:
    """A folder with the weights, the optimizer and the number of finished steps."""

    folder: Path
    step: int


def save_checkpoint(
    folder: Path,
    step: int,
    model: PreTrainedModel,
    learner_state: dict[str, Any],
    keep: int,
    tokenizer: PreTrainedTokenizerBase | None = None,
) -> Checkpoint:
    """Write `folder/step-000123` and delete all but the newest `keep`.

    With the tokenizer it is a transformers folder that can be evaluated like any other model. Of a model with an
    adapter it is the adapter's folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    remove_unfinished(folder)
    final = folder / f"{PREFIX}{step:06d}"
    partial = folder / f".{final.name}"
    partial.mkdir()
    if adapted := has_adapter(model):
        save_adapter(model, partial)
    else:
        save_file(_distinct(model.state_dict()), partial / WEIGHTS, metadata={"format": "pt"})
    if tokenizer is not None:
        tokenizer.save_pretrained(partial)
    if tokenizer is not None and not adapted:
        model.config.save_pretrained(partial)
        if model.generation_config is not None:
            model.generation_config.save_pretrained(partial)
    torch.save(learner_state, partial / "learner.pt")
    (partial / "state.json").write_text(json.dumps({"step": step}))
    for file in partial.iterdir():
        _flush(file)
    _flush(partial)
    if final.exists():
        _delete(final)
    partial.rename(final)
    _flush(folder)
    for old in _whole(folder)[:-keep] if keep > 0 else []:
        _delete(old.folder)
    return Checkpoint(final, step)


def remove_unfinished(folder: Path) -> None:
    """Delete what a write or a deletion that was cut short left behind."""
    for stale in folder.glob(f".*{PREFIX}*"):
        shutil.rmtree(stale)


def latest_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest whole checkpoint in a folder."""
    whole = _whole(folder)
    return whole[-1] if whole else None


def load_checkpoint(checkpoint: Checkpoint, model: PreTrainedModel) -> dict[str, Any]:
    """Put the weights into the model and return the learner's state.

    Raises:
        ValueError: the weights are those of another model or adapter.
    """
    if has_adapter(model):
        load_adapter(model, checkpoint.folder)
    else:
        _load_weights(checkpoint, model)
    # Mapped, not read: of sharded moments every process takes its part.
    state: dict[str, Any] = torch.load(
        checkpoint.folder / "learner.pt", weights_only=True, map_location="cpu", mmap=True
    )
    return state


def _load_weights(checkpoint: Checkpoint, model: PreTrainedModel) -> None:
    if not (checkpoint.folder / WEIGHTS).is_file():
        raise ValueError(f"{checkpoint.folder} belongs to another model: it has no {WEIGHTS}")
    tensors = load_file(checkpoint.folder / WEIGHTS)
    try:
        missing, unexpected = model.load_state_dict(tensors, strict=False)
    except RuntimeError as error:  # shapes
        raise ValueError(f"{checkpoint.folder} belongs to another model: {error}") from error
    model.tie_weights()
    tied = set(model.all_tied_weights_keys)  # of this model; empty where the head has weights of its own
    if unexpected or set(missing) - tied:
        raise ValueError(f"{checkpoint.folder} belongs to another model: {sorted(set(missing) - tied) + unexpected}")


def _distinct(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Each tensor once, under its first name: tied weights share memory, which safetensors refuses."""
    distinct: dict[str, torch.Tensor] = {}
    seen: set[int] = set()
    for name, tensor in tensors.items():
        if tensor.data_ptr() not in seen:
            seen.add(tensor.data_ptr())
            distinct[name] = tensor.contiguous()
    return distinct


def _whole(folder: Path) -> list[Checkpoint]:
    named = [(p, p.name.removeprefix(PREFIX)) for p in folder.glob(f"{PREFIX}*") if p.is_dir()]
    found = [Checkpoint(p, int(step)) for p, step in named if step.isdigit()]
    return sorted(found, key=lambda checkpoint: checkpoint.step)


def _delete(folder: Path) -> None:
    """Hidden first: a deletion that is cut short must not leave half a checkpoint under its name."""
    hidden = folder.with_name(f".old-{folder.name}")
    folder.rename(hidden)
    shutil.rmtree(hidden)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
