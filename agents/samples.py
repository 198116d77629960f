"""Rollouts of a run to look at: rows for `samples.jsonl` and for trackers, and a printer.

python agents/samples.py runs/<name>              # the last step that was sampled
python agents/samples.py runs/<name> --step 50
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from torch import Tensor

from agents.cli import run_cli
from agents.policy import Policy
from agents.rollout import Rollouts

Row = dict[str, Any]


def sample_rows(
    step: int, problems: Sequence[int], policy: Policy, rollouts: Rollouts, advantages: Tensor, prompts: int
) -> list[Row]:
    """One row for each of the G rollouts of the first `prompts` problems.

    Fields: `step`, `problem`, `prompt` and `response` (texts), `answers` (m texts, None where absent), `rewards`
    (m, k), `advantage`: a number where `advantages` is (B, G), and where it is (B, G, 1 + m) a list: of the tokens
    outside of answers, then of those of each answer.
    """
    return [
        {
            "step": step,
            "problem": problems[b],
            "prompt": policy.decode(rollouts.prompts[b]),
            "response": policy.decode(completion.token_ids),
            "answers": rollouts.answers[b][g],
            "rewards": rollouts.rewards[b, g].tolist(),
            "advantage": advantages[b, g].tolist(),
        }
        for b in range(min(prompts, len(rollouts.prompts)))
        for g, completion in enumerate(rollouts.completions[b])
    ]


def table_cells(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Column names and cells for trackers; lists become JSON text."""
    columns = list(rows[0]) if rows else []
    return columns, [[json.dumps(v) if isinstance(v, list) else v for v in row.values()] for row in rows]


def markdown_table(columns: Sequence[str], cells: Sequence[Sequence[Any]]) -> str:
    """A table that TensorBoard's text page shows; code blocks keep tags like <answer> visible."""
    lines = [columns, ["---"] * len(columns), *[[_inline(cell) for cell in row] for row in cells]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _inline(cell: Any) -> str:
    text = f"{cell:.4g}" if isinstance(cell, float) else str(cell)
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;")
    return escaped.replace("\n", "<br>")


@dataclass
class SamplesConfig:
    """Options of the command line."""

    run: Annotated[str, tyro.conf.Positional]
    """Folder of the run."""
    step: int | None = None
    """Step to show; default the last one in the file."""


def show(config: SamplesConfig) -> str:
    """The sampled rollouts of one step as text.

    Raises:
        ValueError: the run has no samples, or none of this step.
    """
    path = Path(config.run) / "samples.jsonl"
    lines = path.read_text().splitlines() if path.is_file() else []
    rows = []
    for line in lines:
        with suppress(ValueError):  # a line that a crash cut short
            rows.append(json.loads(line))
    if not rows:
        raise ValueError(f"{path} holds no samples: train with --samples-every")
    steps = sorted({row["step"] for row in rows})
    step = steps[-1] if config.step is None else config.step
    if step not in steps:
        raise ValueError(f"{path} has no samples of step {step}; it has {', '.join(map(str, steps))}")
    text, prompt = [f"step {step}"], None
    for row in (row for row in rows if row["step"] == step):
        if row["prompt"] != prompt:
            prompt = row["prompt"]
            text.append(f"\nproblem {row['problem']}\n{prompt}")
        advantage = row["advantage"]
        numbers = " ".join(f"{a:+.3f}" for a in (advantage if isinstance(advantage, list) else [advantage]))
        text.append(f"\n--- advantage {numbers}\n{row['response']}")
        for answer, rewards in zip(row["answers"], row["rewards"], strict=True):
            text.append(f"  {' '.join(f'{r:.2f}' for r in rewards)}  {'(absent)' if answer is None else answer}")
    return "\n".join(text)


def main() -> None:
    """The command line."""
    run_cli(lambda: print(show(tyro.cli(SamplesConfig, description=__doc__))))


if __name__ == "__main__":
    main()
