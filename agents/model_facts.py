"""What is known of a model without loading its weights: its configuration, and how many numbers it holds.

The configurations of the paper's models are public facts, listed here so that a dry run can count them without asking
the hub: the `config.json` of each model at huggingface.co; Qwen3 Technical Report (arXiv 2505.09388), table 1;
Qwen2.5-Coder Technical Report (arXiv 2409.12186), table 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig, Qwen2Config, Qwen3Config
from transformers.pytorch_utils import Conv1D

from agents.config import LoraConfig, TrainConfig, parse_pairs
from agents.policy import builtin_folder


def _qwen3(layers: int, width: int, heads: int, inner: int, tied: bool) -> Qwen3Config:
    return Qwen3Config(
        vocab_size=151936,
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=8,
        head_dim=128,
        max_position_embeddings=40960,
        tie_word_embeddings=tied,
    )


def known_config(model: str) -> PreTrainedConfig | None:
    """The configuration of one of the paper's models, None for other hub ids."""
    match model:
        case "Qwen/Qwen3-1.7B":
            return _qwen3(layers=28, width=2048, heads=16, inner=6144, tied=True)
        case "Qwen/Qwen3-4B":
            return _qwen3(layers=36, width=2560, heads=32, inner=9728, tied=True)
        case "Qwen/Qwen3-8B":
            return _qwen3(layers=36, width=4096, heads=32, inner=12288, tied=False)
        case "Qwen/Qwen2.5-Coder-7B-Instruct":
            return Qwen2Config(
                vocab_size=152064,
                hidden_size=3584,
                intermediate_size=18944,
                num_hidden_layers=28,
                num_attention_heads=28,
                num_key_value_heads=4,
                max_position_embeddings=32768,
                tie_word_embeddings=False,
            )
    return None


def find_config(config: TrainConfig) -> PreTrainedConfig | None:
    """The configuration of the model that would be trained, from a folder or from the list above; None if unknown.

    Nothing is downloaded.

    Raises:
        ValueError: there is no built-in policy for the environment, or a folder without a model.
    """
    if (known := known_config(config.model)) is not None:
        return known
    folder = Path(config.model)
    if config.model == "builtin":
        folder = builtin_folder(config.env, parse_pairs(config.env_args, "--env-args"))
    if not folder.is_dir():
        return None
    if not (folder / "config.json").is_file():
        raise ValueError(f"{config.model} holds no model (config.json is missing)")
    found: PreTrainedConfig = AutoConfig.from_pretrained(folder)
    return found


@dataclass(frozen=True)
class ModelSize:
    """Counts of numbers, and the widths that activations and caches follow from."""

    parameters: int
    trained: int
    """All, or the adapter's with LoRA."""
    matrices: int
    """Weights of the linear layers: what mixed precision casts."""
    layers: int
    width: int
    inner: int
    """Width inside the feed-forward block."""
    heads: int
    queries: int
    """Heads times their size."""
    keys: int
    """Key-value heads times their size."""
    normed_heads: bool
    """Whether queries and keys are normalised (Qwen3)."""
    vocabulary: int


def model_size(config: PreTrainedConfig, lora: LoraConfig) -> ModelSize:
    """Sizes of a model, counted on a model without memory (torch's meta device)."""
    with torch.device("meta"):
        model: Any = AutoModelForCausalLM.from_config(config)
    parameters = sum(p.numel() for p in model.parameters())
    head = model.get_output_embeddings()
    linear = {name: m for name, m in model.named_modules() if isinstance(m, nn.Linear | Conv1D)}
    adapted = [
        m
        for name, m in linear.items()
        if (m is not head if lora.targets == ("all-linear",) else name.rpartition(".")[2] in lora.targets)
    ]
    heads = config.num_attention_heads
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // heads
    return ModelSize(
        parameters=parameters,
        trained=lora.rank * sum(sum(m.weight.shape) for m in adapted) if lora.rank else parameters,
        matrices=sum(m.weight.numel() for m in linear.values()),
        layers=config.num_hidden_layers,
        width=config.hidden_size,
        inner=getattr(config, "intermediate_size", None) or 4 * config.hidden_size,
        heads=heads,
        queries=heads * head_dim,
        keys=(getattr(config, "num_key_value_heads", None) or heads) * head_dim,
        normed_heads=any(name.endswith("q_norm") for name, _ in model.named_modules()),
        vocabulary=config.vocab_size,
    )
