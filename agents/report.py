"""What an evaluation leaves behind: tables on the terminal, and files in one folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from agents.comparison import Comparison
from agents.config import Backend, EngineConfig, EvaluationConfig
from agents.evaluation import ROWS, evaluate_policy, problems_for_all
from agents.generation import make_generator
from agents.plots import plot_best_at_k, plot_maze_answers
from agents.policy import Policy
from agents.prompt_weights import written_weights


def evaluate_and_report(
    policies: Mapping[str, tuple[Policy, int]],
    env_id: str,
    env_args: Sequence[str],
    config: EvaluationConfig,
    max_tokens: int,
    prompt_tokens: int,
    output: Path,
    rows: int = ROWS,
    backend: Backend = "transformers",
    engine: EngineConfig | None = None,
    method: str | None = None,
) -> Comparison:
    """Evaluate policies, label -> (policy, m), one after the other, and report.

    See `evaluate_policy` and `make_generator` for the rest.
    """
    weights = written_weights(config.prompt_weights, method) != "none"
    problems = problems_for_all(list(policies.values()), env_id, env_args, config, max_tokens, prompt_tokens, weights)
    results = []
    for label, (policy, m) in policies.items():
        made = make_generator(policy, backend, engine or EngineConfig(), rows, prompt_tokens + max_tokens)
        with closing(made) as generator:
            results.append(
                evaluate_policy(
                    policy,
                    env_id,
                    env_args,
                    m,
                    config,
                    max_tokens,
                    prompt_tokens,
                    label=label,
                    problems=problems,
                    generator=generator,
                    method=method,
                )
            )
    comparison = Comparison(results)
    report(comparison, output)
    return comparison


def report(comparison: Comparison, output: Path, problem: int = 0) -> None:
    """Print the tables and write `evaluation.json`, `answers.jsonl`, `best_at_k.png` and, for mazes, `answers.png`.

    Args:
        comparison: what to report.
        output: a folder, made if it is not there.
        problem: place in `problems` of the maze that is drawn.
    """
    output.mkdir(parents=True, exist_ok=True)
    comparison.print()
    written = ["evaluation.json", "answers.jsonl", "best_at_k.png"]
    (output / "evaluation.json").write_text(comparison.to_json())
    _write_answers(comparison, output / "answers.jsonl")
    plot_best_at_k(comparison, output / "best_at_k.png")
    try:
        plot_maze_answers(comparison, output / "answers.png", problem)
        written.append("answers.png")
    except ValueError as reason:
        print(f"answers.png was not drawn: {reason}", file=sys.stderr)
    print(f"{output}: {', '.join(written)}", file=sys.stderr)


def _write_answers(comparison: Comparison, path: Path) -> None:
    """One line for each policy and problem: the texts (n, m), null where absent, and their rewards (n, m, k).

    Where the prompts asked for weights, also these (n, k).
    """
    with path.open("w") as file:
        for result in comparison.results:
            rows = zip(result.problems, result.answers, result.rewards, strict=True)
            for i, (problem, answers, rewards) in enumerate(rows):
                line = {"policy": result.label, "problem": problem, "answers": answers, "rewards": rewards.tolist()}
                if result.asked_weights is not None:
                    line["prompt_weights"] = result.asked_weights[i].tolist()
                file.write(json.dumps(line) + "\n")
