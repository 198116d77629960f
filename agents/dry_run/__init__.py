"""What a configuration would do: number of steps and memory, with the arithmetic."""

from agents.dry_run.dry_run import dry_run

__all__ = ["dry_run"]
