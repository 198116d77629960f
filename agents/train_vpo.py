"""Train a language model on a multi-objective text environment with Vector Policy Optimization.

    python agents/train_vpo.py --env vpo/Maze-v0
    python agents/train_vpo.py --env vpo/Maze-v0 --method grpo
    python agents/train_vpo.py --env vpo/ToolRL-v0 --preset paper --dry-run
    python agents/train_vpo.py --resume runs/<name>

One step: ask B prompts, sample G responses of m answers each, score every answer with a reward vector, turn the rewards
(B, G, m, k) into one advantage per response or answer, and take a policy-gradient step. The run's folder holds
`config.json`, `metrics.jsonl`, `samples.jsonl`, TensorBoard logs, checkpoints, the final model in transformers format,
a table and pictures.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
import tyro
from torch import nn

from agents.advantages import NEEDS_PROMPT_WEIGHTS
from agents.cli import run_cli
from agents.config import TrainConfig, parse_pairs
from agents.dry_run import dry_run
from agents.environment import Environment
from agents.faults import writing
from agents.generation import TransformersGenerator, make_generator
from agents.learner import Learner
from agents.plots import plot_training
from agents.policy import Policy, open_policy
from agents.presets import command_line_defaults
from agents.processes import ALONE, Processes, open_processes
from agents.prompt_filter import fitting_problems
from agents.prompt_weights import check_prompt_weights, weights_of_step, written_weights
from agents.run_evaluation import evaluate_first_and_last
from agents.runs.run import answers_per_rollout, complete, open_run, refuse_changes
from agents.runs.run_checkpoint import restore
from agents.schedule import problems_of_step, steps_for
from agents.training_loop import train_steps


def train(config: TrainConfig, processes: Processes = ALONE, progress: bool = True) -> Path:
    """Train as configured; returns the folder of the run.

    With several processes every one calls it, and the main one writes and evaluates. `progress`: show a bar.

    Raises:
        ValueError: options that do not fit together, a model that cannot be loaded ...
        SystemExit: after Ctrl-C (130) or SIGTERM (0), with a checkpoint.
        Fault: the engine failed (with a checkpoint), or something could not be written.
    """
    if config.dry_run:
        raise ValueError("--dry-run trains nothing: call agents.dry_run.dry_run")
    if config.resume is not None:
        refuse_changes(config)
    config = complete(config)
    processes.check_batch(config.prompts, config.learner.mini_batch)
    if config.threads is not None:
        torch.set_num_threads(config.threads)
    env_args = parse_pairs(config.env_args, "--env-args")
    environment = Environment(config.env, env_args, answers_per_rollout(config), "train")
    _check_weights_in_prompts(config, environment)
    policy = open_policy(
        config.model,
        config.env,
        env_args,
        processes.device or config.device,
        config.dtype,
        config.learner.param_dtype,
        config.learner.attention,
    )
    policy.add_lora(config.lora, config.seed)
    device = policy.model.device
    problems = processes.on_main(partial(_problems, config, policy, environment))
    if config.steps is None:
        if problems is None:
            raise ValueError(f"{config.env} has no fixed number of problems: give --steps")
        config = replace(config, steps=steps_for(config.epochs, config.prompts, len(problems)))
    learner = Learner(policy.model, config.learner, config.sampling.temperature, policy.dtype, processes)
    context = config.prompt_tokens + config.sampling.max_tokens
    generator = make_generator(policy, config.backend, config.engine, config.sampling.rows, context)
    if processes.sharded and not isinstance(generator, TransformersGenerator):
        nn.Module.to(policy.model, "cpu")  # an engine takes its weights from anywhere, and this is all of them
    run = processes.on_main(partial(open_run, config))
    processes.say(f"{run.folder}: {config.method} on {config.env} with {config.model}, {config.steps} steps")

    restore(run, policy, learner)
    with closing(generator):
        train_steps(run, policy, environment, problems, generator, learner, processes, progress)

    processes.close(together=True)
    if not processes.main:
        return run.folder
    nn.Module.to(policy.model, device)
    with writing("the final model", run.folder):
        policy.model.eval()
        policy.save(run.folder / "final")
        plot_training(run.folder / "metrics.jsonl", run.folder / "training.png")
    if config.final_evaluation:
        evaluate_first_and_last(run, policy, environment)
    print(f"{run.folder}: final model in {run.folder / 'final'}", file=sys.stderr)
    return run.folder


def _check_weights_in_prompts(config: TrainConfig, environment: Environment) -> None:
    """Refuse an environment that cannot write weights into its prompts, where training or an evaluation needs that."""
    check_prompt_weights(environment, written_weights("auto", config.method))
    if config.final_evaluation or config.evaluate_every is not None:
        check_prompt_weights(environment, written_weights(config.evaluation.prompt_weights, config.method))


def _problems(config: TrainConfig, policy: Policy, environment: Environment) -> Sequence[int] | None:
    """The problems to train on, None for seeds. Fails on prompts that are too long before the run's folder exists."""
    in_prompts = config.method in NEEDS_PROMPT_WEIGHTS
    problems: Sequence[int] | None = fitting_problems(
        [(policy, environment)], config.prompt_tokens, config.sampling.max_tokens, weights=in_prompts
    )
    if problems is None and environment.num_problems is not None:
        problems = range(environment.num_problems)
    first = problems_of_step(0, 1, problems, config.seed)
    weights = weights_of_step(config, environment, 0, first)
    messages = environment.ask(first, 1, None if weights is None else weights.numpy())
    policy.encode_prompts(messages, config.prompt_tokens, config.sampling.max_tokens)
    return problems


def command(config: TrainConfig) -> None:
    """What the command line does: train, or say what would be trained."""
    if config.dry_run:
        print(dry_run(config))
    else:
        with closing(open_processes(config.device)) as processes:
            train(config, processes)


def main() -> None:
    """The command line."""
    run_cli(lambda: command(tyro.cli(TrainConfig, default=command_line_defaults(sys.argv[1:]), description=__doc__)))


if __name__ == "__main__":
    main()
