"""The weights that prompts ask for: of goal-conditioned training, and of the evaluation of such a policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.advantages import NEEDS_PROMPT_WEIGHTS, sample_weights
from agents.config import PromptWeights, TrainConfig
from agents.environment import Environment
from agents.schedule import seed_of_step, seeds_of

Written = Literal["none", "reference", "random"]
"""What stands in a prompt: `PromptWeights` without "auto"."""


def written_weights(option: PromptWeights, method: str | None) -> Written:
    """What the option means for a policy that was trained with `method` (None: not known)."""
    if option != "auto":
        return option
    return "random" if method in NEEDS_PROMPT_WEIGHTS else "none"


def weights_of_step(config: TrainConfig, environment: Environment, step: int, asked: Sequence[int]) -> Tensor | None:
    """(B, k) the weights that each prompt of a training step asks for; None for methods that ask for nothing.

    Dirichlet(`config.prompt_alpha`) over a problem's own objectives; a function of the configuration and the step.
    """
    if config.method not in NEEDS_PROMPT_WEIGHTS:
        return None
    rng = torch.Generator().manual_seed(seed_of_step(config.seed, step, "prompt weights"))
    mask = torch.from_numpy(environment.objective_masks(asked))
    return sample_weights(mask, 1, alpha=config.prompt_alpha, dtype=torch.float64, generator=rng).squeeze(1)


def evaluation_weights(
    written: Written, environment: Environment, problems: Sequence[int], responses: int, seed: int
) -> NDArray[np.float64] | None:
    """(P, n, k) the weights in the prompt of each of n responses to a problem; None where nothing is written.

    "reference": the same for all. "random": uniform on the simplex of a problem's objectives, anew for each response; a
    function of the problem and the seed, so that all policies are asked the same.
    """
    if written == "none":
        return None
    masks = environment.objective_masks(problems)  # (P, k)
    if written == "reference":
        weights = masks * environment.reference_weights
        weights /= weights.sum(-1, keepdims=True)
        return np.repeat(weights[:, None], responses, axis=1)
    drawn = []
    for problem, mask in zip(problems, masks, strict=True):
        rng = torch.Generator().manual_seed(seeds_of([seed, problem, *b"prompt weights"], 1)[0])
        drawn.append(sample_weights(torch.from_numpy(mask)[None], responses, dtype=torch.float64, generator=rng)[0])
    return torch.stack(drawn).numpy()


def check_prompt_weights(environment: Environment, written: Written) -> None:
    """Raise ValueError where an environment cannot write weights into its prompts."""
    if written == "none":
        return
    if not environment.is_ours:
        raise ValueError(
            f"{environment.id} is a foreign environment: weights cannot be written into its prompts, as --method "
            "goal_conditioned and an evaluation with --evaluation.prompt-weights reference or random would"
        )
    task, problem = environment.task, environment.task[0]
    weights = environment.reference_weights.tolist()
    if task.messages(problem, environment.num_answers, weights) == task.messages(problem, environment.num_answers):
        raise ValueError(
            f"{environment.id}: the task's prompts do not change with weights: Task.messages must write them "
            "(vpo_envs.answers.describe_weights)"
        )
