"""Checkpoints come back exactly, and a process that dies while writing one leaves the last whole one."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar

import pytest
import torch
from agents_helpers import family_model
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedModel

from agents.runs import checkpoint
from agents.runs.checkpoint import latest_checkpoint, load_checkpoint, save_checkpoint


def trained(name: str, tied: bool, seed: int) -> tuple[PreTrainedModel, torch.optim.Optimizer]:
    """A model and its optimizer after two updates that depend on the seed."""
    model = family_model(name, 50, tied=tied)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    ids = torch.randint(5, 50, (2, 6), generator=torch.Generator().manual_seed(seed))
    for _ in range(2):
        optimizer.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
    return model, optimizer


def assert_equal(a: Any, b: Any) -> None:
    if isinstance(a, torch.Tensor):
        assert torch.equal(a, b)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_equal(a[key], b[key])
    elif isinstance(a, list | tuple):
        for x, y in zip(a, b, strict=True):
            assert_equal(x, y)
    else:
        assert a == b


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("name", ["gpt2", "llama", "qwen3"])
def test_round_trip_is_exact(name: str, tied: bool, tmp_path: Path) -> None:
    model, optimizer = trained(name, tied, seed=0)
    save_checkpoint(tmp_path, 7, model, {"optimizer": optimizer.state_dict()}, keep=2)

    other, _ = trained(name, tied, seed=1)
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert found.step == 7
    state = load_checkpoint(found, other)
    assert_equal(dict(other.state_dict()), dict(model.state_dict()))
    assert_equal(state["optimizer"], optimizer.state_dict())
    shared = other.get_input_embeddings().weight is other.get_output_embeddings().weight
    assert shared == tied


def test_the_newest_are_kept(tmp_path: Path) -> None:
    model, _ = trained("gpt2", True, seed=0)
    assert latest_checkpoint(tmp_path / "nothing yet") is None
    for step in (9, 10, 100, 1_000_000):
        save_checkpoint(tmp_path, step, model, {}, keep=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["step-000100", "step-1000000"]
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert found.step == 1_000_000


def test_keeping_all(tmp_path: Path) -> None:
    model, _ = trained("gpt2", True, seed=0)
    for step in (1, 2, 3):
        save_checkpoint(tmp_path, step, model, {}, keep=0)
    assert len(list(tmp_path.iterdir())) == 3


def test_saving_a_step_again_replaces_it(tmp_path: Path) -> None:
    for seed in (0, 1):
        model, _ = trained("gpt2", True, seed=seed)
        saved = save_checkpoint(tmp_path, 5, model, {"seed": seed}, keep=2)
    other, _ = trained("gpt2", True, seed=2)
    assert load_checkpoint(saved, other) == {"seed": 1}
    assert_equal(dict(other.state_dict()), dict(model.state_dict()))
    assert [p.name for p in tmp_path.iterdir()] == ["step-000005"]


def test_a_partial_checkpoint_is_ignored_and_cleaned_up(tmp_path: Path) -> None:
    model, _ = trained("gpt2", True, seed=0)
    save_checkpoint(tmp_path, 5, model, {}, keep=2)
    partial = tmp_path / ".step-000010"
    partial.mkdir()
    (partial / "model.safetensors").write_bytes(b"half of the wei")
    (tmp_path / ".DS_Store").write_text("not ours")
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert found.step == 5
    save_checkpoint(tmp_path, 10, model, {}, keep=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".DS_Store", "step-000005", "step-000010"]


@pytest.mark.parametrize(
    ("saved", "loading"),
    [
        (("gpt2", 50, True), ("llama", 50, True)),  # other names
        (("gpt2", 50, True), ("gpt2", 60, True)),  # other shapes
        (("llama", 50, True), ("llama", 50, False)),  # no weights for a head that is not tied
    ],
)
def test_a_checkpoint_of_another_model_is_refused(
    saved: tuple[str, int, bool], loading: tuple[str, int, bool], tmp_path: Path
) -> None:
    a, b = (family_model(name, vocab_size, tied=tied) for name, vocab_size, tied in (saved, loading))
    found = save_checkpoint(tmp_path, 1, a, {}, keep=1)
    with pytest.raises(ValueError, match=r"step-000001 belongs to another model"):
        load_checkpoint(found, b)


class Died(BaseException):
    """Nobody handles this one, as nobody handles SIGKILL."""


class DeathAt:
    """While active, the process dies at moment `number`.

    A moment is before a line of the checkpoint module, and before a file or folder is deleted.
    """

    active: DeathAt | None = None

    def __init__(self, number: int) -> None:
        self.left = number

    def moment(self) -> None:
        self.left -= 1
        if self.left < 0:
            DeathAt.active = None
            raise Died

    def trace(self, frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != checkpoint.__file__:
            return None
        if event == "line":
            self.moment()
        return self.trace

    def __enter__(self) -> None:
        DeathAt.active, self.before = self, sys.gettrace()
        sys.settrace(self.trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self.before)
        DeathAt.active = None


def on_audit(event: str, arguments: tuple[object, ...]) -> None:
    if DeathAt.active is not None and event in ("os.remove", "os.rmdir"):
        DeathAt.active.moment()


sys.addaudithook(on_audit)  # for good: Python has no way to remove one


class Weight(torch.nn.Module):
    """As little of a model as a checkpoint needs: one number."""

    device = torch.device("cpu")
    all_tied_weights_keys: ClassVar[dict[str, str]] = {}

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = torch.nn.Parameter(torch.tensor(value))

    def tie_weights(self) -> None:
        pass


def save(folder: Path, step: int, value: float) -> None:
    save_checkpoint(folder, step, Weight(value), {"value": value}, keep=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("step", [7, 6], ids=["a new step", "the same step again"])
def test_death_at_any_moment_leaves_a_whole_checkpoint(step: int, tmp_path: Path) -> None:
    """With steps 5 and 6 there, another is written, and 5 deleted: at every moment the newest one loads."""
    save(tmp_path / "start", 5, 0.5)
    save(tmp_path / "start", 6, 0.6)
    deaths, finished = 0, False
    while not finished:
        folder = tmp_path / str(deaths)
        shutil.copytree(tmp_path / "start", folder)
        try:
            with DeathAt(deaths):
                save(folder, step, 0.7)
            finished = True
        except Died:
            deaths += 1
        found = latest_checkpoint(folder)
        assert found is not None
        loaded = Weight(0.0)
        state = load_checkpoint(found, loaded)  # type: ignore[arg-type]
        value = round(loaded.value.item(), 6)
        assert state == {"value": value}
        assert (found.step, value) in {(5, 0.5), (6, 0.6), (step, 0.7)}
        save(folder, 8, 0.8)
        assert not list(folder.glob(".*")), "what the dead left behind is cleaned up"
    assert value == 0.7
    assert deaths > 50


WRITER = """
import sys
from pathlib import Path
from transformers import GPT2Config, GPT2LMHeadModel
from agents.runs.checkpoint import save_checkpoint
import torch

model = GPT2LMHeadModel(GPT2Config(vocab_size=4000, n_embd=512, n_layer=2, n_head=4))
for step in range(1, 100_000):
    with torch.no_grad():
        model.transformer.wte.weight.fill_(step)
    save_checkpoint(Path(sys.argv[1]), step, model, {"step": step}, keep=2)
"""


def test_kill_minus_nine_in_the_middle_of_writing(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)])
    try:
        deadline = time.monotonic() + 60
        # Two whole checkpoints, and a third that is being written.
        while not (len(list(tmp_path.glob("step-*"))) >= 2 and list(tmp_path.glob(".step-*/model.safetensors"))):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.001)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    found = latest_checkpoint(tmp_path)
    assert found is not None
    model = GPT2LMHeadModel(GPT2Config(vocab_size=4000, n_embd=512, n_layer=2, n_head=4))
    assert load_checkpoint(found, model) == {"step": found.step}
    assert (model.lm_head.weight == found.step).all()
    model, _ = trained("gpt2", True, seed=0)
    save_checkpoint(tmp_path, found.step + 1, model, {}, keep=1)
    assert [p.name for p in tmp_path.iterdir()] == [f"step-{found.step + 1:06d}"]
