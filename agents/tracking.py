"""What a run leaves behind while it trains: `metrics.jsonl` and TensorBoard logs."""

from __future__ import annotations

import json
from pathlib import Path

from torch.utils.tensorboard import SummaryWriter


class Tracker:
    """Appends one line per step. On resume, lines from `first_step` on (written after the checkpoint) are dropped."""

    def __init__(self, folder: Path, first_step: int) -> None:
        self.path = folder / "metrics.jsonl"
        if self.path.exists():
            kept = [line for line in self.path.read_text().splitlines() if _step(line, first_step) < first_step]
            partial = self.path.with_suffix(".part")
            partial.write_text("".join(line + "\n" for line in kept))
            partial.replace(self.path)
        self._file = self.path.open("a")
        self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=first_step)

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self._file.write(json.dumps({"step": step, **metrics}, allow_nan=False) + "\n")
        self._file.flush()
        for name, value in metrics.items():
            self._board.add_scalar(name, value, step)

    def close(self) -> None:
        self._file.close()
        self._board.close()


def _step(line: str, otherwise: int) -> int:
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return otherwise  # a line cut short by a crash
