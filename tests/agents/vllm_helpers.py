"""What the tests of vLLM compare it with: transformers, one response at a time, without a cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from agents_helpers import end_ids, full_logits, random_prompts, reference_distribution
from transformers import PreTrainedModel

from agents.config import EngineConfig
from agents.generation import Completion, Generator, Sampling
from agents.policy import load_policy

CLOSE = 1e-4
GREEDY = Sampling(12, temperature=0.0)


@torch.no_grad()
def largest_error(
    model: PreTrainedModel, prompts: Sequence[Sequence[int]], done: list[list[Completion]], sampling: Sampling
) -> float:
    """Largest difference of a reported log-probability from the one that transformers computes for the same token."""
    worst = 0.0
    for prompt, group in zip(prompts, done, strict=True):
        for completion in group:
            logits = full_logits(model, prompt, completion.token_ids)
            for row, token, logprob in zip(logits, completion.token_ids, completion.logprobs, strict=True):
                if sampling.top_p < 1:
                    p = reference_distribution(row.tolist(), sampling.temperature, sampling.top_p)[token]
                    expected = torch.tensor(p, dtype=torch.float64).log()
                else:
                    expected = (row / (sampling.temperature or 1.0)).log_softmax(-1)[token]
                worst = max(worst, abs(float(expected) - logprob))
                if sampling.temperature == 0:
                    worst = max(worst, float(row.max() - row[token]))
    return worst


@torch.no_grad()
def perturb(model: torch.nn.Module, seed: int = 0) -> None:
    """Change every parameter, by a few percent of its size."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.add_(noise * 0.05 * parameter.std().nan_to_num(0.1).clamp(min=1e-3))


CONTEXT = 256
SHIPPED = Path(__file__).resolve().parents[2] / "agents" / "policies"


def build_engine(model: PreTrainedModel, config: EngineConfig | None = None) -> Generator:
    """An engine for this model, with any of `end_ids` as ends. Only one can be in a process at a time: close it."""
    from agents.generation.vllm_backend import VllmGenerator

    config = EngineConfig(cache_gib=0.25) if config is None else config
    return VllmGenerator(model, list(end_ids(model)), config, CONTEXT, rows=64)


def load_model(folder: str | Path) -> PreTrainedModel:
    """A model from a folder, or that of a shipped policy by its name ("Maze-v0")."""
    return load_policy(str(SHIPPED / folder), torch.device("cpu"), torch.float32).model


def prompts_for(model: PreTrainedModel, lengths: tuple[int, ...] = (5, 60, 1, 200)) -> list[list[int]]:
    """The longest is more than a block of vLLM's prefix cache (128 tokens on a CPU)."""
    return random_prompts(model.config.vocab_size, lengths)
