"""What a run leaves behind while it trains: `metrics.jsonl`, `samples.jsonl`, and what trackers show of them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from agents.config import TrainConfig
from agents.faults import Fault, writing
from agents.samples import markdown_table, table_cells


class RunLog:
    """The metrics and samples of a run, one call a step. On resume, what came after the checkpoint is dropped.

    With several processes only the main one has a log.

    Raises:
        Fault: something could not be written.
    """

    def __init__(self, folder: Path, first_step: int, config: TrainConfig) -> None:
        self.folder = folder
        with writing("the log", folder):
            self._metrics = _StepLines(folder / "metrics.jsonl", first_step)
            self._samples = _StepLines(folder / "samples.jsonl", first_step)
            self._trackers = [_open_tracker(name, folder, first_step, config) for name in config.trackers]

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Append a step's metrics."""
        with writing(f"the metrics of step {step}", self.folder):
            self._metrics.append({"step": step, **values})
            for tracker in self._trackers:
                tracker.log(dict(values), step=step)

    def samples(self, step: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append rollouts of a step (`agents.samples.sample_rows`)."""
        with writing(f"the samples of step {step}", self.folder):
            for row in rows:
                self._samples.append(row)
            for tracker in self._trackers:
                _show_table(tracker, step, rows)

    def close(self) -> None:
        with writing("the log", self.folder):
            self._metrics.close()
            self._samples.close()
            for tracker in self._trackers:
                tracker.finish()

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self.close()
        except Fault:
            if kind is None:  # else the first error says more
                raise


class _StepLines:
    """A file with JSON lines that each have a step. Lines from `first_step` on are dropped when it is opened."""

    def __init__(self, path: Path, first_step: int) -> None:
        if path.exists():
            kept = [line for line in path.read_text().splitlines() if _step(line, first_step) < first_step]
            partial = path.with_suffix(".part")
            partial.write_text("".join(line + "\n" for line in kept))
            partial.replace(path)
        self._file = path.open("a")

    def append(self, row: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(row, allow_nan=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _step(line: str, otherwise: int) -> int:
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return otherwise  # a line cut short by a crash


def _open_tracker(name: str, folder: Path, first_step: int, config: TrainConfig) -> Any:
    """One of accelerate's trackers, started. W&B and trackio go on with the run that the folder belongs to."""
    from accelerate import PartialState
    from accelerate.tracking import TensorBoardTracker, TrackioTracker, WandBTracker

    PartialState()  # the trackers ask it whether this is the main process
    tracker: Any
    if name == "tensorboard":
        tracker = TensorBoardTracker("tensorboard", folder, purge_step=first_step)
    elif name == "wandb":
        tracker = WandBTracker(
            config.project, name=folder.name, id=_run_id(folder), resume="allow", dir=str(folder), config=asdict(config)
        )
    else:
        # trackio knows runs by their name.
        name = f"{folder.name}-{_run_id(folder)[:8]}"
        tracker = TrackioTracker(config.project, name=name, resume="allow", config=asdict(config))
    tracker.start()
    return tracker


def _run_id(folder: Path) -> str:
    """A name that no other run has, the same for as long as the folder exists."""
    path = folder / "run_id"
    if not path.is_file():
        path.write_text(uuid.uuid4().hex)
    return path.read_text()


def _show_table(tracker: Any, step: int, rows: Sequence[Mapping[str, Any]]) -> None:
    columns, cells = table_cells(rows)
    if tracker.name == "tensorboard":
        tracker.writer.add_text("samples", markdown_table(columns, cells), step)
    elif tracker.name == "wandb":
        tracker.log_table("samples", columns=columns, data=cells, step=step)
    else:
        trackio: Any = import_module("trackio")
        table = trackio.Table(columns=columns, data=cells)
        tracker.log({"samples": table}, step=step)
