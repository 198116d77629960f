"""Train a language model on a multi-objective text environment with Vector Policy Optimization.

    python agents/train_vpo.py --env vpo/Maze-v0
    python agents/train_vpo.py --env vpo/Maze-v0 --method grpo
    python agents/train_vpo.py --resume runs/<name>

One step: ask B prompts, sample G responses of m answers each, score every answer with a reward vector, turn the rewards
(B, G, m, k) into one advantage per response, and take a policy-gradient step. The run's folder holds `config.json`,
`metrics.jsonl`, TensorBoard logs, checkpoints, the final model in transformers format, a table and pictures.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
import tyro
from tqdm import tqdm

from agents.advantages import estimate
from agents.checkpoint import load_checkpoint, save_checkpoint
from agents.cli import run_cli
from agents.config import TrainConfig, parse_pairs
from agents.environment import Environment
from agents.generation import Sampling, TransformersGenerator
from agents.interrupt import StopRequest
from agents.learner import Learner
from agents.plots import plot_training
from agents.policy import Policy, open_policy
from agents.presets import command_line_defaults
from agents.prompt_filter import fitting_problems
from agents.report import evaluate_and_report
from agents.rollout import collect, reward_batch
from agents.run import Run, answers_per_rollout, complete, open_run, refuse_changes
from agents.schedule import problems_of_step, prompt_seeds, seed_of_step, steps_for
from agents.step_metrics import rollout_metrics
from agents.tracking import Tracker

INTERRUPTED = 130  # the shell's exit code for a program stopped by Ctrl-C


def train(config: TrainConfig) -> Path:
    """Train as configured; returns the folder of the run. Raises SystemExit(130) after Ctrl-C, with a checkpoint."""
    if config.resume is not None:
        refuse_changes(config)
    config = complete(config)
    if config.threads is not None:
        torch.set_num_threads(config.threads)
    m = answers_per_rollout(config)
    env_args = parse_pairs(config.env_args, "--env-args")
    environment = Environment(config.env, env_args, m, "train")
    policy = open_policy(config.model, config.env, env_args, config.device, config.dtype)
    problems = _problems(config, policy, environment)
    if config.steps is None:
        if problems is None:
            raise ValueError(f"{config.env} has no fixed number of problems: give --steps")
        config = replace(config, steps=steps_for(config.epochs, config.prompts, len(problems)))
    run = open_run(config)
    print(f"{run.folder}: {config.method} on {config.env} with {config.model}, {config.steps} steps", file=sys.stderr)

    learner = Learner(policy.model, config.learner, config.sampling.temperature, policy.dtype)
    if run.checkpoint is not None:
        learner.load_state_dict(load_checkpoint(run.checkpoint, policy.model))
    _loop(run, config, policy, learner, environment, problems)

    policy.model.eval()
    policy.save(run.folder / "final")
    plot_training(run.folder / "metrics.jsonl", run.folder / "training.png")
    if config.final_evaluation:
        _warn_of_seen_problems(config.env, environment)
        before = open_policy(config.model, config.env, env_args, config.device, config.dtype)
        evaluate_and_report(
            {"before training": (before, m), config.method: (policy, m)},
            config.env,
            config.env_args,
            config.evaluation,
            config.sampling.max_tokens,
            config.prompt_tokens,
            run.folder / "evaluation",
            rows=config.sampling.rows,
        )
    print(f"{run.folder}: final model in {run.folder / 'final'}", file=sys.stderr)
    return run.folder


def _loop(
    run: Run,
    config: TrainConfig,
    policy: Policy,
    learner: Learner,
    environment: Environment,
    problems: Sequence[int] | None,
) -> None:
    assert config.steps is not None
    generator = TransformersGenerator(
        policy.model, policy.end_ids, policy.tokenizer.pad_token_id, config.sampling.rows, policy.dtype
    )
    sampling = Sampling(config.sampling.max_tokens, config.sampling.temperature, config.sampling.top_p)
    method_args = parse_pairs(config.method_args, "--method-args")
    group_size = config.answers_per_prompt // answers_per_rollout(config)
    tracker = Tracker(run.folder, run.first_step)
    steps = range(run.first_step, config.steps)
    progress = tqdm(steps, desc=config.method, unit="step", initial=run.first_step, total=config.steps)
    with StopRequest() as stop:
        for step in progress:
            began = time.perf_counter()
            asked = problems_of_step(step, config.prompts, problems, config.seed)
            rollouts = collect(
                policy,
                generator,
                environment,
                asked,
                group_size,
                sampling,
                prompt_seeds(config.seed, step, config.prompts),
                config.prompt_tokens,
            )
            generated = time.perf_counter()
            batch = reward_batch(rollouts, environment)  # rewards (B, G, m, k)
            weights_rng = torch.Generator().manual_seed(seed_of_step(config.seed, step, "weights"))
            advantages = estimate(config.method, batch, generator=weights_rng, **method_args)  # (B, G)
            learned = learner.step(rollouts, advantages)
            generator.sync(policy.model)
            metrics = rollout_metrics(rollouts, batch, advantages, environment.objectives) | {
                f"learner/{name}": value for name, value in learned.items()
            }
            metrics["time/generate"] = generated - began
            metrics["time/learn"] = time.perf_counter() - generated
            tracker.log(step, metrics)
            progress.set_postfix(
                score=f"{metrics['score/answer']:.3f}",
                best_of_set=f"{metrics['score/best_of_set']:.3f}",
                kl=f"{metrics.get('learner/kl', 0.0):.3f}",
            )
            done = step + 1
            if done % config.checkpoint_every == 0 or done == config.steps or stop.requested:
                save_checkpoint(
                    run.folder / "checkpoints",
                    done,
                    policy.model,
                    learner.state_dict(),
                    config.keep_checkpoints,
                    policy.tokenizer,
                )
            if stop.requested:
                tracker.close()
                progress.close()
                print(f"stopped after step {done}; go on with --resume {run.folder}", file=sys.stderr)
                raise SystemExit(INTERRUPTED)
    tracker.close()


def _warn_of_seen_problems(env: str, environment: Environment) -> None:
    """Say so where the test problems are those that were trained on: a single data file is used for either split."""
    data = None if environment.task is None else environment.task.data
    if data is not None and Path(data).is_file():
        print(
            f"{env}: the evaluation asks problems of {data}, which were trained on; for unseen ones give --env-args "
            "data=FOLDER with a file for each split, or evaluate on another file with agents/evaluate.py",
            file=sys.stderr,
        )


def _problems(config: TrainConfig, policy: Policy, environment: Environment) -> Sequence[int] | None:
    """The problems to train on, None for seeds. Fails on prompts that are too long before the run's folder exists."""
    problems: Sequence[int] | None = fitting_problems(
        [(policy, environment)], config.prompt_tokens, config.sampling.max_tokens
    )
    if problems is None and environment.num_problems is not None:
        problems = range(environment.num_problems)
    first = environment.ask(problems_of_step(0, 1, problems, config.seed), 1)
    policy.encode_prompts(first, config.prompt_tokens, config.sampling.max_tokens)
    return problems


def main() -> None:
    """The command line."""
    run_cli(lambda: train(tyro.cli(TrainConfig, default=command_line_defaults(sys.argv[1:]), description=__doc__)))


if __name__ == "__main__":
    main()
