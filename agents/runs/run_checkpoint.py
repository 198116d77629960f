"""Saving and restoring the state of a run between two steps."""

from __future__ import annotations

from agents.faults import Fault, writing
from agents.learner import Learner
from agents.policy import Policy
from agents.processes import Processes
from agents.runs.checkpoint import load_checkpoint, remove_unfinished, save_checkpoint
from agents.runs.run import Run


def save(run: Run, done: int, policy: Policy, learner: Learner, processes: Processes) -> None:
    """Write the checkpoint of `done` finished steps. Every process calls it, the main one writes.

    Raises:
        Fault: it could not be written; nothing of it is left, and the checkpoints before it are as they were.
    """
    folder, keep = run.folder / "checkpoints", run.config.keep_checkpoints
    if learner.skipped_in_a_row:
        keep += learner.config.max_skipped  # these may hold weights that are ruined; those before them may not
    state = learner.state_dict()

    def write() -> None:
        try:
            with writing(f"the checkpoint of step {done}", run.folder):
                save_checkpoint(folder, done, policy.model, state, keep, policy.tokenizer)
        except Fault:
            remove_unfinished(folder)
            raise

    processes.on_main(write)


def restore(run: Run, policy: Policy, learner: Learner) -> None:
    """Go back to the run's newest checkpoint, if it has one."""
    if run.checkpoint is not None:
        learner.load_state_dict(load_checkpoint(run.checkpoint, policy.model))
