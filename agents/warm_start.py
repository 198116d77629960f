"""Make a built-in policy: supervised learning on a task's demonstrations, with always-new problems.

    python agents/warm_start.py --env vpo/Maze-v0 --env-args size=7 slack=6

The result is an ordinary transformers folder (model, tokenizer; weights in float16) plus `recipe.json`, which holds
this command's options, its loss every 50 steps, and what the demonstrations earn.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import asdict, dataclass
from inspect import signature
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import torch
import torch.nn.functional as F
import tyro
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from agents.builtin import END, Positions, build_model, build_tokenizer
from agents.cli import run_cli
from agents.config import parse_pairs
from agents.demonstrations import demonstration_facts, examples
from vpo_envs.registration import make_task
from vpo_envs.task import Task

EPOCHLESS = 10**9  # so many problems that none is seen twice, where a task can make as many as one likes
PROBED = 300  # examples for each number of answers whose length is looked at before training
STREAM = 10**7  # each number of answers has its own stream of problems, this far apart
REPORT_EVERY = 50
COPIED, COPY_BATCH = 24, 32  # longest passage in tokens, and texts in a step, of `learn_to_copy`


@dataclass
class WarmStartConfig:
    """Options of the warm start; saved as `recipe.json` beside the policy."""

    env: str = "vpo/Maze-v0"
    """Id of a text environment with a task of this package's kind; "module:id" imports the module first."""
    env_args: tuple[str, ...] = ()
    """Arguments of the environment, as name=value."""
    output: str = ""
    """Folder of the policy; default runs/policies/<environment>."""
    answers: tuple[int, ...] = (1, 3)
    """Numbers of answers that the demonstrations show, drawn evenly."""
    weighted: float = 0.0
    """Share of the prompts that ask for random weights of the objectives, as those of goal_conditioned training do. The
    demonstrations do not heed them: the policy learns to answer such prompts, and RL what the weights mean."""
    steps: int = 3000
    """Optimizer steps."""
    batch: int = 64
    """Examples in a step."""
    lr: float = 2e-3
    """Peak learning rate; warm-up over 100 steps, then cosine to a tenth."""
    prompt_weight: float = 0.0
    """Weight of the prompt tokens' mean loss beside the response tokens'. Above 0 the policy also learns to predict
    prompts, which teaches it much sooner to find a name again that stood in the text before."""
    previous_token_heads: int = 0
    """With rotary positions: so many heads start by looking 1, 2 ... tokens back."""
    copy_steps: int = 0
    """Steps before these on random texts that repeat themselves (`learn_to_copy`)."""
    copy_repeats: bool = False
    """In every second of these texts a token stands about three times, so that what comes next depends on two."""
    layers: int = 4
    """Transformer blocks."""
    width: int = 128
    """Size of the hidden states."""
    heads: int = 4
    """Attention heads in a block."""
    positions: Positions = "learned"
    """"learned" absolute positions (GPT-2), for prompts with a fixed layout; "rotary" ones (Llama), for free text."""
    context: int = 384
    """Longest prompt and response together, in tokens."""
    seed: int = 0
    """Seed of the first weights and of the demonstrations."""


def encode(
    tokenizer: PreTrainedTokenizerFast, pairs: list[tuple[Any, str]]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Right-padded ids (n, t), attention mask (n, t) and labels (n, t), -100 outside the responses."""
    encoded: Any = tokenizer.apply_chat_template([m for m, _ in pairs], add_generation_prompt=True)
    prompts = encoded["input_ids"]
    responses = tokenizer([response + END for _, response in pairs])["input_ids"]
    length = max(len(p) + len(r) for p, r in zip(prompts, responses, strict=True))
    ids = torch.full((len(pairs), length), tokenizer.pad_token_id)
    mask = torch.zeros((len(pairs), length), dtype=torch.long)
    labels = torch.full((len(pairs), length), -100)
    for i, (p, r) in enumerate(zip(prompts, responses, strict=True)):
        ids[i, : len(p) + len(r)] = torch.tensor(p + r)
        mask[i, : len(p) + len(r)] = 1
        labels[i, len(p) : len(p) + len(r)] = torch.tensor(r)
    return ids, mask, labels


@dataclass(frozen=True)
class WarmStarted:
    """A warm-started policy and its history."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    losses: list[float]
    """Mean loss (nats per response token) of steps 0-49, 50-99 ..."""


def warm_start(config: WarmStartConfig, stop_after: int | None = None) -> WarmStarted:
    """Train a built-in policy from nothing; `stop_after` ends the recipe early, after so many of its steps.

    Deterministic for a given machine and number of threads.

    Raises:
        ValueError: an option is out of range, the environment is no task or refuses its arguments, the task has too
            few demonstrations that differ, or an example does not fit the context.
    """
    _check(config)
    torch.manual_seed(config.seed)
    task = _endless_task(config.env, parse_pairs(config.env_args, "--env-args"))
    tokenizer = build_tokenizer(task, config.answers, weighted=config.weighted)
    for m in config.answers:
        probed = list(islice(examples(task, Random(m), m, weighted=config.weighted), PROBED))
        _check_length(encode(tokenizer, probed)[0], config.context)
    model = build_model(
        tokenizer,
        layers=config.layers,
        width=config.width,
        heads=config.heads,
        context=config.context,
        positions=config.positions,
        previous_token_heads=config.previous_token_heads,
    )
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=config.lr, betas=(0.9, 0.98), fused=True)

    def schedule(step: int) -> float:
        rise = min(1.0, (step + 1) / 100)
        return rise * (0.1 + 0.45 * (1 + math.cos(math.pi * step / config.steps)))

    if config.copy_steps:
        learn_to_copy(model, len(tokenizer), config)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
    # A batch holds one number of answers, so that little of it is padding.
    sources = [
        examples(task, Random(f"{config.seed} {m}"), m, i * STREAM, config.weighted)
        for i, m in enumerate(config.answers)
    ]
    progress = tqdm(range(min(config.steps, stop_after or config.steps)), desc="warm start", unit="step")
    history: list[float] = []
    for step in progress:
        ids, mask, labels = encode(tokenizer, list(islice(sources[step % len(sources)], config.batch)))
        _check_length(ids, config.context)
        hidden = model.base_model(input_ids=ids, attention_mask=mask).last_hidden_state[:, :-1]  # (n, t - 1, d)
        responses = labels[:, 1:] != -100
        wanted = mask[:, 1:].bool() if config.prompt_weight else responses
        per_token = F.cross_entropy(model.lm_head(hidden[wanted]), ids[:, 1:][wanted], reduction="none")
        in_response = responses[wanted]
        loss = per_token[in_response].mean()
        objective = loss + config.prompt_weight * per_token[~in_response].mean() if config.prompt_weight else loss
        objective.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
        history.append(loss.item())
        if step % 10 == 9:
            progress.set_postfix(loss=f"{sum(history[-50:]) / len(history[-50:]):.3f}")
    losses = [round(sum(part) / len(part), 4) for part in batched(history, REPORT_EVERY)]
    return WarmStarted(model.eval(), tokenizer, losses)


def learn_to_copy(model: PreTrainedModel, vocabulary: int, config: WarmStartConfig) -> list[float]:
    """Train on random passages that are repeated to the end of a text; returns each step's loss (nats per token).

    Whoever can go on with a passage from its second token can find a name in a prompt and say what stands after it. A
    task's own texts repeat little, and a policy would take thousands of steps to learn that from them.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.98), fused=True)
    rng, generator = Random(f"{config.seed} copy"), torch.Generator().manual_seed(config.seed)
    losses = []
    for step in tqdm(range(config.copy_steps), desc="learning to copy", unit="step"):
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1.0, (step + 1) / 50)
        length = rng.randint(4, COPIED)
        repeats = config.copy_repeats and step % 2 == 1
        symbols = max(3, length // 3) if repeats else length
        passage = torch.randint(vocabulary, (COPY_BATCH, symbols), generator=generator)
        if repeats:
            passage = passage.gather(1, torch.randint(symbols, (COPY_BATCH, length), generator=generator))
        ids = passage.repeat(1, max(2, 2 * COPIED // length))
        hidden = model.base_model(input_ids=ids).last_hidden_state[:, length:-1]
        loss = F.cross_entropy(model.lm_head(hidden).flatten(0, 1), ids[:, length + 1 :].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def _check(config: WarmStartConfig) -> None:
    for name in ("steps", "batch", "layers", "width", "heads", "context"):
        if getattr(config, name) < 1:
            raise ValueError(f"--{name} must be at least 1, not {getattr(config, name)}")
    if not config.answers or min(config.answers) < 1:
        raise ValueError(f"--answers takes one or more whole numbers of at least 1, not {config.answers}")
    if not 0 <= config.weighted <= 1:
        raise ValueError(f"--weighted must be from 0 to 1, not {config.weighted}")
    if not 0 <= config.prompt_weight <= 10:
        raise ValueError(f"--prompt-weight must be from 0 to 10, not {config.prompt_weight}")
    if not 0 <= config.previous_token_heads <= config.heads:
        raise ValueError(f"--previous-token-heads must be from 0 to --heads, not {config.previous_token_heads}")
    if config.previous_token_heads and config.positions != "rotary":
        raise ValueError("--previous-token-heads needs --positions rotary")
    if config.copy_steps < 0:
        raise ValueError(f"--copy-steps must be at least 0, not {config.copy_steps}")
    if config.copy_repeats and not config.copy_steps:
        raise ValueError("--copy-repeats needs --copy-steps")
    if config.width % config.heads:
        raise ValueError(f"--width must be a multiple of --heads: {config.width} is none of {config.heads}")


def _endless_task(env_id: str, args: dict[str, Any]) -> Task[Any]:
    """The task, with as many problems as one likes where its class has the argument and the user did not set it."""
    try:
        task: Task[Any] = make_task(env_id, **args)
        if "num_problems" in signature(type(task)).parameters and "num_problems" not in args:
            task = make_task(env_id, **args, num_problems=EPOCHLESS)
    except (TypeError, OSError) as error:
        raise ValueError(f"{env_id} cannot be made: {error}") from error
    return task


def _check_length(ids: torch.Tensor, context: int) -> None:
    """Raise ValueError if the longest of some encoded examples (n, t) does not fit."""
    if ids.shape[1] > context:
        raise ValueError(
            f"an example, prompt and answers, has {ids.shape[1]} tokens, the context {context}; raise --context, or "
            "lower --answers"
        )


def batched(values: list[float], size: int) -> list[list[float]]:
    return [values[first : first + size] for first in range(0, len(values), size)]


def main() -> None:
    """The command line."""
    config = tyro.cli(WarmStartConfig, description=__doc__)
    start = time.perf_counter()
    made = warm_start(config)
    name = config.env.rpartition(":")[2].removeprefix("vpo/")
    folder = Path(config.output or f"runs/policies/{name}")
    folder.mkdir(parents=True, exist_ok=True)
    made.model.half().save_pretrained(folder)  # half the size; the rounding costs no measurable quality
    made.tokenizer.save_pretrained(folder)
    facts = demonstration_facts(_endless_task(config.env, parse_pairs(config.env_args, "--env-args")))
    recipe = asdict(config) | {"output": "", "losses": made.losses, "demonstrations": facts}
    (folder / "recipe.json").write_text(json.dumps(recipe, indent=1) + "\n")
    print(f"{folder}: {made.model.num_parameters():,} weights, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    run_cli(main)
