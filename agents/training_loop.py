"""The loop over the steps of a training run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from signal import Signals

import torch
from tqdm import tqdm

from agents.advantages import PER_ANSWER, estimate
from agents.config import TrainConfig, parse_pairs
from agents.environment import Environment
from agents.faults import Fault
from agents.generation import EngineError, Generator, Sampling
from agents.learner import Learner
from agents.policy import Policy
from agents.processes import Processes
from agents.prompt_weights import weights_of_step
from agents.rollout import Rollouts, collect, reward_batch, together
from agents.run_evaluation import evaluation_metrics
from agents.runs.interrupt import EXIT_CODES, StopRequest
from agents.runs.run import Run, answers_per_rollout
from agents.runs.run_checkpoint import save
from agents.runs.tracking import RunLog
from agents.samples import sample_rows
from agents.schedule import problems_of_step, prompt_seeds, seed_of_step
from agents.step_metrics import rollout_metrics


def train_steps(
    run: Run,
    policy: Policy,
    environment: Environment,
    problems: Sequence[int] | None,
    generator: Generator,
    learner: Learner,
    processes: Processes,
    bar: bool = True,
) -> None:
    """Take the steps of a run that are left, and save its state; see `agents.train_vpo.train` for what is raised.

    Args:
        run: its folder, configuration and first step.
        policy, environment: what answers, and what is asked.
        problems: the problems to train on, None for seeds.
        generator: samples from the policy; it is synchronised before every step.
        learner: updates the policy.
        processes: this process among all; every one takes the same steps, and the main one writes.
        bar: show a progress bar.
    """
    config = run.config
    assert config.steps is not None
    method_args = parse_pairs(config.method_args, "--method-args")
    places = processes.share_of_step(config.prompts, config.learner.mini_batch)
    steps = range(run.first_step, config.steps)
    with (
        StopRequest() as stop,
        RunLog(run.folder, run.first_step, config) if processes.main else nullcontext() as log,
        tqdm(
            steps,
            desc=config.method,
            unit="step",
            initial=run.first_step,
            total=config.steps,
            disable=not (bar and processes.main),
        ) as progress,
    ):
        for step in progress:
            asked = problems_of_step(step, config.prompts, problems, config.seed)
            evaluate = processes.main and _due(step, config.evaluate_every)
            respond = partial(_respond, config, step, asked, places, policy, environment, generator, evaluate)
            try:
                evaluated, own = processes.agreed(respond, EngineError)
            except EngineError as error:
                save(run, step, policy, learner, processes)
                # A signal to all processes of the job ends an engine in a process of its own as well.
                _stop(processes.first(stop.requested), step, run, processes)
                raise Fault(
                    f"the engine failed in step {step}: {error}. The checkpoint of {step} finished steps is whole; go "
                    f"on with --resume {run.folder}"
                ) from error
            collected = time.perf_counter()
            rollouts = together(processes.gather((places, own)))  # of all prompts, in every process
            batch = reward_batch(rollouts, environment)  # rewards (B, G, m, k)
            weights_rng = torch.Generator().manual_seed(seed_of_step(config.seed, step, "weights"))
            advantages = estimate(config.method, batch, generator=weights_rng, **method_args)  # (B, G) or by answer
            learned = learner.step(rollouts, advantages)

            metrics = rollout_metrics(rollouts, batch, advantages, environment.objectives)
            metrics |= {f"learner/{name}": value for name, value in learned.items()}
            metrics |= {f"evaluation/{name}": value for name, value in evaluated.items()}
            metrics |= {f"time/{name}": seconds for name, seconds in rollouts.seconds.items()}
            metrics["time/learn"] = time.perf_counter() - collected
            if log is not None:
                log.metrics(step, metrics)
            if log is not None and _due(step, config.samples_every):
                log.samples(step, sample_rows(step, asked, policy, rollouts, advantages, config.samples_prompts))
            progress.set_postfix(
                score=f"{metrics['score/answer']:.3f}",
                best_of_set=f"{metrics['score/best_of_set']:.3f}",
                kl=f"{metrics['learner/kl']:.3f}" if "learner/kl" in metrics else "-",
            )
            done = step + 1
            stopped_by = processes.first(stop.requested)  # the one place where a step looks at it
            ending = done == config.steps or stopped_by is not None or learner.exhausted
            if ending or done % config.checkpoint_every == 0:
                save(run, done, policy, learner, processes)
            if learner.exhausted:
                raise Fault(
                    f"{learner.skipped_in_a_row} updates in a row had a loss or a gradient that is not finite and were "
                    "skipped. The learning rate may be too high: start again with a lower --learner.lr. If it was a "
                    f"single bad batch, --resume {run.folder} goes on after step {done}; if the weights themselves are "
                    "ruined, it fails again: delete the newest checkpoints and it goes on from an earlier one"
                )
            _stop(stopped_by, done, run, processes)


def _stop(stopped_by: Signals | None, done: int, run: Run, processes: Processes) -> None:
    """End the run after `done` steps if a signal asked for it."""
    if stopped_by is not None:
        processes.say(f"{stopped_by.name}: stopped after step {done}; go on with --resume {run.folder}")
        raise SystemExit(EXIT_CODES[stopped_by])


def _respond(
    config: TrainConfig,
    step: int,
    asked: Sequence[int],
    places: Sequence[int],
    policy: Policy,
    environment: Environment,
    generator: Generator,
    evaluate: bool,
) -> tuple[dict[str, float], Rollouts]:
    """What the policy's evaluation gave, and its rollouts to this process's prompts of a step."""
    generator.sync(policy.model)
    # Before the responses: it is the very policy that they come from that is evaluated.
    evaluated = evaluation_metrics(config, policy, generator) if evaluate else {}
    seeds = prompt_seeds(config.seed, step, config.prompts)
    weights = weights_of_step(config, environment, step, asked)
    rollouts = collect(
        policy,
        generator,
        environment,
        [asked[place] for place in places],
        config.answers_per_prompt // answers_per_rollout(config),
        Sampling(config.sampling.max_tokens, config.sampling.temperature, config.sampling.top_p),
        [seeds[place] for place in places],
        config.prompt_tokens,
        None if weights is None else weights[list(places)],
        parts=config.method in PER_ANSWER,
    )
    generator.rest()
    return evaluated, rollouts


def _due(step: int, every: int | None) -> bool:
    return every is not None and step % every == 0
