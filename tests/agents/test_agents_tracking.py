"""What a run leaves while it trains, and how it is stopped."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from agents.interrupt import StopRequest
from agents.tracking import Tracker


def steps_in(folder: Path) -> list[int]:
    return [json.loads(line)["step"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_metrics_written_after_the_checkpoint_are_dropped_on_resume(tmp_path: Path) -> None:
    tracker = Tracker(tmp_path, 0)
    for step in range(5):
        tracker.log(step, {"score": step / 10})
    tracker.close()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 5, "sco')  # the machine lost power here
    tracker = Tracker(tmp_path, 3)
    tracker.log(3, {"score": 9.0})
    tracker.close()
    assert steps_in(tmp_path) == [0, 1, 2, 3]
    assert json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[-1]) == {"step": 3, "score": 9.0}


def test_first_interrupt_asks_and_the_second_insists() -> None:
    before = signal.getsignal(signal.SIGINT)
    with StopRequest() as stop:
        assert not stop.requested
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
