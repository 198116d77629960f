"""What is done of a comparison, and an estimate of the time that the rest takes."""

from __future__ import annotations

from collections.abc import Sequence

from agents.study.plan import PlannedRun


def describe(runs: Sequence[PlannedRun]) -> str:
    """The plan as text, with what is done and an estimate of the time that the rest takes."""
    lines, left, unknown = [], 0.0, False
    for number, run in enumerate(runs, start=1):
        seconds = seconds_left(run, runs)
        state = "done" if run.trained and run.evaluated else "to evaluate" if run.trained else "to train"
        if not run.trained and (done := len(run.step_seconds())):
            state = f"at step {done} of {run.config.steps}"
        time_left = "" if state == "done" else _time(seconds)
        lines.append(f"{number:3d}  {run.title:<40} m={run.num_answers}  {state:<18} {time_left}".rstrip())
        unknown |= seconds is None
        left += seconds or 0.0
    total = "unknown, for nothing like it has been run yet" if unknown else _time(left)
    return "\n".join([*lines, f"left: {total}"])


def seconds_left(run: PlannedRun, runs: Sequence[PlannedRun]) -> float | None:
    """Estimate from the steps and evaluations that are done: of the same method, else of all. None if there is none."""
    seconds = 0.0
    if not run.trained:
        per_step = _mean([s for r in _alike(run, runs) for s in r.step_seconds()])
        if per_step is None:
            per_step = _mean([s for r in runs for s in r.step_seconds()])
        if per_step is None:
            return None
        seconds += per_step * ((run.config.steps or 0) - len(run.step_seconds()))
    if not run.evaluated:
        took = _mean([r.result.seconds for r in _alike(run, runs) if r.evaluated])
        took = _mean([r.result.seconds for r in runs if r.evaluated]) if took is None else took
        if took is None:
            return None
        seconds += took
    return max(0.0, seconds)


def _alike(run: PlannedRun, runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    return [other for other in runs if other.method == run.method]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    minutes = seconds / 60
    return f"{seconds:.0f} s" if minutes < 2 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
