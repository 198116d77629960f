"""llm:<model>: a language model plays the same problems as text; the reward vectors of its answers are its set."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import numpy as np
import torch

from agents.benchmarking.config import BenchmarkConfig
from agents.benchmarking.environments import Arena
from agents.benchmarking.registry import LLM
from agents.benchmarking.results import Outcome
from agents.config import EngineConfig
from agents.environment import Environment
from agents.generation import Sampling, make_generator
from agents.policy import open_policy
from agents.presets import evaluation_top_p
from agents.rollout import collect
from agents.runs.saved_settings import find_candidate
from agents.schedule import seeds_of

ROWS = 512  # responses that are generated side by side


class LanguageModelOptions:
    """What `DEFAULTS` is to other algorithms."""

    DEFAULTS: Mapping[str, Any] = {
        "num_answers": None,  # in one response; default what the model was trained for, else 1
        "temperature": 0.7,
        "device": "auto",
        "backend": "auto",
    }


def run_language_model(
    name: str, seed: int, config: BenchmarkConfig, arena: Arena, options: Mapping[str, Any]
) -> Outcome:
    """Sample `config.num_solutions` answers to every judged problem.

    Raises:
        ValueError: a model that cannot be loaded, or num_solutions that is no multiple of the answers in a response.
    """
    torch.set_num_threads(config.threads)
    env_id, env_args = arena.text_args
    candidate = find_candidate(name.removeprefix(LLM), env_id)
    m = options["num_answers"] or candidate.num_answers or 1
    if config.num_solutions % m:
        raise ValueError(
            f"{config.num_solutions} answers cannot be sampled as responses of {m}; give a multiple with "
            f"--num-solutions, or --algo-args {name}.num_answers=1"
        )
    policy = open_policy(candidate.source, env_id, env_args, options["device"], "auto")
    environment = Environment(env_id, env_args, m, arena.split)
    sampling = Sampling(candidate.max_tokens, options["temperature"], evaluation_top_p(env_id))
    context = candidate.prompt_tokens + candidate.max_tokens
    group, rewards = config.num_solutions // m, []
    began = time.process_time()
    with closing(make_generator(policy, options["backend"], EngineConfig(), ROWS, context)) as generator:
        at_once = max(1, ROWS // group)
        for first in range(0, len(arena.problems), at_once):
            problems = arena.problems[first : first + at_once]
            seeds = [s for problem in problems for s in seeds_of([seed, problem], 1)]
            part = collect(policy, generator, environment, problems, group, sampling, seeds, candidate.prompt_tokens)
            rewards.append(part.rewards.numpy().reshape(len(problems), config.num_solutions, -1))
    vectors = np.concatenate(rewards).astype(np.float64)
    return Outcome(name, seed, vectors, None, time.process_time() - began, dict(options))
