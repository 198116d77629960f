"""What weights are kept in, and with which kernel attention is computed."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest
import torch
from agents_helpers import family_model, sampled_rollouts
from torch import Tensor
from transformers import PreTrainedModel

from agents.checkpoint import load_checkpoint, save_checkpoint
from agents.config import LearnerConfig, LoraConfig
from agents.learner import Learner
from agents.lora import add_adapter
from agents.master_weights import MasterWeights
from agents.policy import open_policy

ADVANTAGES = torch.tensor([[1.5, -0.5, 0.0, -1.0], [0.3, 0.3, -2.0, 1.4], [-0.7, 0.1, 0.9, -0.3]])
PAPER = LearnerConfig(lr=1e-6, weight_decay=0.0, micro_batch=3, kl_coef=0.05)


def half(lr: float = 1e-6) -> tuple[PreTrainedModel, Learner]:
    """A model in bfloat16 and its learner."""
    model = family_model("llama", 60).bfloat16()
    return model, Learner(
        model, LearnerConfig(lr=lr, weight_decay=0.0, micro_batch=3, kl_coef=0.05), 1.0, torch.bfloat16
    )


def test_steps_of_the_papers_size_are_kept_in_master_weights() -> None:
    """After three steps of 1e-6 hardly a bfloat16 weight has changed, but all masters have moved by up to 3e-6."""
    model, learner = half()
    rollouts = sampled_rollouts(model, (5, 9, 2), group_size=4)
    first = [p.detach().clone() for p in model.parameters()]
    for _ in range(3):
        learner.step(rollouts, ADVANTAGES)
    large = [p.abs() > 1e-2 for p in first]
    moves = [(m - p.float())[w] for m, p, w in zip(learner.weights.masters, first, large, strict=True)]
    changed = [(q != p)[w] for q, p, w in zip(model.parameters(), first, large, strict=True)]
    assert torch.cat([m.abs() for m in moves]).max() < 3.5e-6
    assert torch.cat([(m.abs() > 5e-7).float() for m in moves]).mean() > 0.8
    assert torch.cat([c.float() for c in changed]).mean() < 0.05


def test_many_small_steps_move_bfloat16_weights_in_the_end() -> None:
    """Two hundred updates of 1e-5 in one direction: without the masters none would leave its place."""
    parameter = torch.nn.Parameter(torch.full((10,), 0.5, dtype=torch.bfloat16))
    module = torch.nn.Module()
    module.weight = parameter
    weights = MasterWeights(module)
    optimizer = torch.optim.SGD(weights.masters, lr=1e-5)
    for _ in range(200):
        weights.drop_gradients()
        for _ in range(2):  # two micro-batches
            (parameter.float().sum() / 2).backward()
            weights.collect_gradients()
        optimizer.step()
        weights.write_back()
    torch.testing.assert_close(weights.masters[0].detach(), torch.full((10,), 0.498), rtol=0, atol=1e-5)
    assert torch.equal(parameter, weights.masters[0].bfloat16())
    assert (parameter != 0.5).all()


def test_gradients_of_micro_batches_are_summed_in_float32() -> None:
    """A thousand gradients of 1: bfloat16 would stop counting at 256."""
    parameter = torch.nn.Parameter(torch.zeros(1, dtype=torch.bfloat16))
    module = torch.nn.Module()
    module.weight = parameter
    weights = MasterWeights(module)
    for _ in range(1000):
        parameter.sum().backward()
        weights.collect_gradients()
    assert weights.masters[0].grad is not None
    assert weights.masters[0].grad.item() == 1000
    assert parameter.grad is None


def test_weights_in_bfloat16_learn_like_weights_in_float32() -> None:
    """From the same rounded weights: the float32 run's update, up to the rounding of the passes."""
    moves: list[Tensor] = []
    for param_dtype in (torch.float32, torch.bfloat16):
        model = family_model("llama", 60).bfloat16()
        rollouts = sampled_rollouts(model.float(), (5, 9, 2), group_size=4)
        model = model.to(param_dtype)
        first = torch.cat([p.detach().float().flatten() for p in model.parameters()])
        learner = Learner(model, LearnerConfig(lr=1e-4, weight_decay=0.0, grad_clip=1e9), 1.0, torch.bfloat16)
        learner.step(rollouts, ADVANTAGES)
        moves.append(torch.cat([m.detach().flatten() for m in learner.weights.masters]) - first)
    assert float(torch.nn.functional.cosine_similarity(*moves, dim=0)) > 0.95


def test_float32_weights_are_their_own_masters() -> None:
    for model in (family_model("llama", 60), family_model("llama", 60).double()):
        weights = MasterWeights(model)
        assert all(m is p for m, p in zip(weights.masters, model.parameters(), strict=True))
        assert weights.state() == []


def test_an_adapter_beside_bfloat16_weights_is_float32() -> None:
    model = family_model("llama", 60).bfloat16()
    add_adapter(model, LoraConfig(rank=4), seed=0, base="base")
    learner = Learner(model, PAPER, 1.0, torch.bfloat16)
    assert {p.dtype for p in model.parameters() if p.requires_grad} == {torch.float32}
    assert learner.weights.state() == []
    metrics = learner.step(sampled_rollouts(model.float(), (5, 9, 2), group_size=4), ADVANTAGES)
    assert metrics["grad_norm"] > 0


def test_masters_are_part_of_a_checkpoint(tmp_path: Path) -> None:
    """Resuming from the rounded weights alone would lose what has not shown in them yet."""
    model, learner = half()
    rollouts = sampled_rollouts(model, (5, 9, 2), group_size=4)
    start = deepcopy(model)
    learner.step(rollouts, ADVANTAGES)
    saved = save_checkpoint(tmp_path, 1, model, learner.state_dict(), keep=1)

    resumed = Learner(start, PAPER, 1.0, torch.bfloat16)
    resumed.load_state_dict(load_checkpoint(saved, start))
    assert learner.step(rollouts, ADVANTAGES) == resumed.step(rollouts, ADVANTAGES)
    for a, b in zip(learner.weights.masters, resumed.weights.masters, strict=True):
        assert torch.equal(a, b)


def test_a_policy_in_bfloat16(policy_folder: Path) -> None:
    policy = open_policy(str(policy_folder), "vpo/Maze-v0", {}, "cpu", "bfloat16", "bfloat16")
    assert policy.model.dtype == torch.bfloat16
    with pytest.raises(ValueError, match=r"--learner.param-dtype bfloat16 needs --dtype bfloat16, not float32"):
        open_policy(str(policy_folder), "vpo/Maze-v0", {}, "cpu", "auto", "bfloat16")


def test_attention_kernels(policy_folder: Path) -> None:
    """Both that run here give the same gradient; one that is not installed is refused under its option's name."""
    folder, found, gradients = str(policy_folder), [], []
    for attention in ("auto", "sdpa", "eager"):
        model = open_policy(folder, "vpo/Maze-v0", {}, "cpu", "auto", attention=attention).model  # type: ignore[arg-type]
        found.append(model.config._attn_implementation)
        learner = Learner(model, PAPER, 1.0)
        learner.step(sampled_rollouts(model, (5, 9, 2), group_size=4), ADVANTAGES)
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]))
    assert found == ["sdpa", "sdpa", "eager"]
    torch.testing.assert_close(gradients[0], gradients[2], rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match=r"--learner.attention flash_attention_2: "):
        open_policy(folder, "vpo/Maze-v0", {}, "cpu", "auto", attention="flash_attention_2")
