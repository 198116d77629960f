"""Policies side by side: the tables, the paired differences, and everything as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.evaluation import Estimate, PolicyResult, estimate_mean
from vpo_envs.bootstrap import paired_bootstrap_interval

MAX_COLUMNS = 6  # objectives in the table of answers; more are in the JSON file only
CEILING = "ceiling (exact front)"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of several policies on the same problems with the same number of answers.

    What may differ are the answers in a response, and the weights that the prompts ask for.

    Raises:
        ValueError: no results, two with the same label, or results that are not of the same evaluation.
    """

    results: Sequence[PolicyResult]

    def __post_init__(self) -> None:
        if not self.results:
            raise ValueError("there is no policy to compare")
        labels = [r.label for r in self.results]
        if len(set(labels)) < len(labels):
            raise ValueError(f"policies need different labels, not {', '.join(labels)}")
        first = self.results[0]
        for other in self.results[1:]:
            for name in ("env", "env_args", "config", "problems", "objectives"):
                a, b = getattr(first, name), getattr(other, name)
                if a != b:
                    raise ValueError(f"{first.label} and {other.label} were evaluated with different {name}: {a}, {b}")

    @cached_property
    def metrics(self) -> list[dict[str, Estimate]]:
        """The metrics of each policy."""
        return [result.metrics() for result in self.results]

    @cached_property
    def ceiling(self) -> dict[str, Estimate]:
        """What the exact fronts allow; empty where there are none."""
        return self.results[0].ceiling()

    @property
    def names(self) -> list[str]:
        """The policies as tables name them: label, answers in a response, and the kind of weights in its prompts."""
        asked = ["" if r.prompt_weights == "none" else f", {r.prompt_weights} weights asked" for r in self.results]
        return [f"{r.label} (m={r.num_answers}{more})" for r, more in zip(self.results, asked, strict=True)]

    @cached_property
    def equal_token_ks(self) -> list[int]:
        """How many of its answers each policy affords on the budget of the most economical one.

        The budget is the smallest number of tokens that any policy generated for all its answers. A policy whose
        answers take t tokens on average (reasoning, tags and absent answers included, prompts not) affords
        k = budget / t, rounded down and at least 1; the most economical policy affords all its answers.
        """
        totals = [int(r.tokens.sum()) for r in self.results]
        return [max(1, r.config.answers * min(totals) // t) for r, t in zip(self.results, totals, strict=True)]

    @cached_property
    def best_at_equal_tokens(self) -> list[tuple[int, Estimate, Estimate]]:
        """For each policy k (`equal_token_ks`), best@k under the reference weights and E_w[best@k]."""
        return [
            (k, estimate_mean(r.best(k)), estimate_mean(r.expected_best(k)))
            for k, r in zip(self.equal_token_ks, self.results, strict=True)
        ]

    @cached_property
    def curve_ks(self) -> list[int]:
        """About evenly spaced k on a logarithmic axis, from 1 to all answers."""
        total = self.results[0].config.answers
        return sorted({*self.results[0].ks, *np.unique(np.geomspace(1, total, 12).round().astype(int)).tolist()})

    @cached_property
    def curves(self) -> list[dict[str, list[Estimate]]]:
        """For each policy best@k ("best") and E_w[best@k] ("ew_best") over `curve_ks`."""
        return [
            {
                "best": [estimate_mean(r.best(k)) for k in self.curve_ks],
                "ew_best": [estimate_mean(r.expected_best(k)) for k in self.curve_ks],
            }
            for r in self.results
        ]

    @cached_property
    def differences(self) -> list[dict[str, Estimate]]:
        """Every policy but the first, minus the first: paired bootstrap over the problems."""
        out = []
        base = self.results[0].per_prompt
        for result in self.results[1:]:
            row = {}
            for name, values in result.per_prompt.items():
                real = np.isfinite(values)
                a, b = values[real], base[name][real]
                row[name] = Estimate(float((a - b).mean()), *paired_bootstrap_interval(a, b))
            out.append(row)
        return out

    # ---- for people ---------------------------------------------------------------------------------------------

    def tables(self) -> list[Table]:
        """The tables that `print` prints."""
        first = self.results[0]
        ks, intervals = first.ks, "±: half of the 95% interval over problems"
        tables = [
            self._best_table(f"Best of k answers, reference weights ({intervals})", "best", ks, 1),
            self._best_table(
                f"Best of k answers, mean over {first.config.weights} random weightings", "ew_best", ks, 2
            ),
        ]
        objectives = [f"objective/{name}" for name in first.objectives]
        shown = [name for name in objectives[:MAX_COLUMNS] if name in self.metrics[0]]
        columns = {name: name.removeprefix("objective/") for name in shown}
        columns |= {"answered": "answered", "tokens_per_answer": "tokens"}
        tables.append(self._metric_table("The answers, mean values", columns))
        columns = {
            "diversity": "diversity (L1)",
            "pareto_count": "optimal vectors",
            "pareto_share": "optimal answers",
            "hypervolume": "hypervolume",
            "front_found": "front found",
            "regret": "regret",
            "ew_regret": "E_w regret",
            f"pass@{ks[0]}": f"pass@{ks[0]}",
            f"pass@{ks[-1]}": f"pass@{ks[-1]}",
        }
        kept = {name: title for name, title in columns.items() if name in self.metrics[0]}
        tables.append(self._metric_table(f"The pool of {first.config.answers} answers to a problem", kept))
        if len(first.objectives) <= MAX_COLUMNS:
            tables.append(self._correlation_table())
        if len(self.results) > 1:
            tables.append(self._difference_table())
        return tables

    def _best_table(self, title: str, prefix: str, ks: list[int], which: int) -> Table:
        table = _table(title, "policy", *(f"best@{k}" for k in ks), "own set", "equal tokens")
        rows = zip(self.names, self.metrics, self.best_at_equal_tokens, strict=True)
        for name, metrics, equal in rows:
            cells = [str(metrics[f"{prefix}@{k}"]) for k in ks]
            k = equal[0]
            table.add_row(name, *cells, str(metrics[f"{prefix}_of_set"]), f"{equal[which]} (k={k})")
        if self.ceiling:
            value = f"{self.ceiling[f'{prefix}_of_set'].value:.3f}"
            table.add_row(CEILING, *[value] * (len(ks) + 2), style="dim")
        return table

    def _metric_table(self, title: str, columns: dict[str, str]) -> Table:
        table = _table(title, "policy", *columns.values())
        for name, metrics in zip(self.names, self.metrics, strict=True):
            table.add_row(name, *(_cell(metrics[column]) for column in columns))
        if any(column in self.ceiling for column in columns):
            cells = [f"{self.ceiling[c].value:.3f}" if c in self.ceiling else "" for c in columns]
            table.add_row(CEILING, *cells, style="dim")
        return table

    def _correlation_table(self) -> Table:
        first = self.results[0]
        title = f"Correlation of the objectives over {self.names[0]}'s answers to a problem"
        table = _table(title, "", *first.objectives)
        for name, row in zip(first.objectives, first.correlation, strict=True):
            table.add_row(name, *("-" if np.isnan(v) else f"{v:+.2f}" for v in row))
        return table

    def _difference_table(self) -> Table:
        total, k = self.results[0].config.answers, self.results[0].ks[0]
        columns = {
            f"best@{k}": f"best@{k}",
            f"best@{total}": f"best@{total}",
            f"ew_best@{total}": f"E_w best@{total}",
            "ew_best_of_set": "E_w own set",
            "diversity": "diversity (L1)",
        }
        table = _table(f"Minus {self.names[0]} (paired 95% interval)", "policy", *columns.values())
        for name, row in zip(self.names[1:], self.differences, strict=True):
            cells = [f"{e.value:+.3f}\n[{e.low:+.3f}, {e.high:+.3f}]" for e in (row[c] for c in columns)]
            table.add_row(name, *cells)
        return table

    def print(self, console: Console | None = None) -> None:
        """Print the tables; a pipe or a file gets lines that are wide enough for them."""
        console = console or Console()
        if not console.is_terminal:
            console = Console(file=console.file, width=140)
        first = self.results[0]
        console.print(
            f"{' '.join([first.env, *first.env_args])}: {len(first.problems)} test problems, "
            f"{first.config.answers} answers each, temperature {first.config.temperature}, top-p {first.config.top_p}",
            highlight=False,
        )
        for table in self.tables():
            console.print(table)

    # ---- for programs -------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """All figures, intervals and options, in plain types; NaN (a problem without the quantity) is None."""
        first = self.results[0]
        policies = []
        rows = zip(self.results, self.metrics, self.curves, self.best_at_equal_tokens, strict=True)
        for result, metrics, curves, (k, best, expected) in rows:
            policies.append(
                {
                    "label": result.label,
                    "model": result.model,
                    "num_answers": result.num_answers,
                    "prompt_weights": result.prompt_weights,
                    "max_tokens": result.max_tokens,
                    "generated_tokens": int(result.tokens.sum()),
                    "seconds": result.seconds,
                    "metrics": _plain(metrics),
                    "curves": {name: [asdict(e) for e in curve] for name, curve in curves.items()},
                    "objective_correlation": [[_number(v) for v in row] for row in result.correlation],
                    "equal_tokens": {"k": k, "best": asdict(best), "ew_best": asdict(expected)},
                    "per_prompt": {n: [_number(v) for v in values] for n, values in result.per_prompt.items()},
                }
            )
        return {
            "env": first.env,
            "env_args": list(first.env_args),
            "objectives": first.objectives,
            "reference_weights": first.reference_weights.tolist(),
            "evaluation": asdict(first.config) | {"ks": list(first.config.ks)},
            "problems": first.problems,
            "curve_ks": self.curve_ks,
            "policies": policies,
            "ceiling": _plain(self.ceiling),
            "differences": [
                {"label": r.label, "minus": first.label, "metrics": _plain(row)}
                for r, row in zip(self.results[1:], self.differences, strict=True)
            ],
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    return table


def _cell(estimate: Estimate) -> str:
    return f"{estimate.value:.1f}" if estimate.value >= 10 else str(estimate)


def _plain(estimates: dict[str, Estimate]) -> dict[str, dict[str, float]]:
    return {name: asdict(estimate) for name, estimate in estimates.items()}


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
