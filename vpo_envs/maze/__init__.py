"""Maze navigation: `vpo/Maze-v0` (text) and `vpo/MazeGrid-v0` (step by step)."""

from vpo_envs.maze.board import Maze
from vpo_envs.maze.task import MazeTask

__all__ = ["Maze", "MazeTask"]
