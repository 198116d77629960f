"""Several processes: which share of a step each one does, and weights that are split over them."""

from agents.processes.processes import ALONE, Processes, open_processes

__all__ = ["ALONE", "Processes", "open_processes"]
