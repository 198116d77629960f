"""Leaving out the problems of a data set whose prompts are too long, and saying how many.

Only data sets are filtered: their prompts are as long as they are. The prompts of generated problems depend on the
environment's arguments, and one that is too long is an error (`Policy.encode_prompts`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tqdm import tqdm

from agents.environment import Environment
from agents.policy import Policy

WEIGHT_TOKENS = 5
"""A weight stands in a prompt as " 7%," or so, and takes at most so many tokens more than another one."""


def fitting_problems(
    environments: Sequence[tuple[Policy, Environment]],
    prompt_tokens: int,
    room: int,
    wanted: int | None = None,
    weights: bool = False,
    start: int = 0,
) -> list[int] | None:
    """The problems whose prompts fit every policy, in the order of the data set; None where nothing is filtered.

    A prompt fits if it has at most `prompt_tokens` tokens and leaves `room` tokens of the context to the response. The
    number of problems that were left out, and the longest prompt, go to standard error.

    Args:
        environments: each policy with the environment (number of answers) that it is asked in; all of one data set.
        wanted: stop after so many fitting problems.
        weights: whether prompts ask for weights. Room is left for the longest ones.
        start: index of the first problem that is looked at.

    Raises:
        ValueError: not one problem fits, or there is none from `start` on.
    """
    first = environments[0][1]
    if first.task is None or first.task.data is None:
        return None
    spare = WEIGHT_TOKENS * len(first.reference_weights) if weights else 0
    limits = [min(prompt_tokens, policy.context - room) - spare for policy, _ in environments]
    total = len(first.task)
    if start >= total:
        raise ValueError(f"{first.id} has {total} {first.split} problems, none from number {start} on")
    wanted = total - start if wanted is None else min(wanted, total - start)
    fitting: list[int] = []
    dropped = longest = 0
    with tqdm(total=wanted, desc="prompt lengths", unit="problem", leave=False) as bar:
        for index in range(start, total):
            if len(fitting) == wanted:
                break
            lengths = [
                len(policy.prompt_ids(_prompt(environment, index, weights))) for policy, environment in environments
            ]
            longest = max(longest, *lengths)
            if all(length <= limit for length, limit in zip(lengths, limits, strict=True)):
                fitting.append(index)
                bar.update()
            else:
                dropped += 1
    what = f"{first.id}: {dropped} of {len(fitting) + dropped} {first.split} problems"
    if not fitting:
        cure = "raise --prompt-tokens"
        if min(limits) + spare < prompt_tokens:  # the context binds
            context = min(limits) + spare + room
            cure = f"lower --sampling.max-tokens {room}, or use a model with a context of more than {context} tokens"
        raise ValueError(f"{what} have prompts of more than {min(limits)} tokens, none is left; {cure}")
    if dropped:
        print(f"{what} left out: prompts of more than {min(limits)} tokens (longest: {longest})", file=sys.stderr)
    return fitting


def _prompt(environment: Environment, index: int, weights: bool) -> list[dict[str, str]]:
    asked = environment.reference_weights.tolist() if weights else None
    return list(environment.task.messages(environment.task[index], environment.num_answers, asked))
