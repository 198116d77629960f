"""Fully sharded data parallelism (torch's FSDP2): every process keeps a part of each weight, gradient and moment.

A transformer block's weights are gathered when a pass reaches it and dropped behind it. What other parts of the agent
see is the policy's ordinary model, a full copy that `publish` brings up to date after the updates of a step.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, distribute_tensor

T = TypeVar("T")


def shard(model: nn.Module, reshard_after_forward: bool = True) -> None:
    """Split a transformers model over the processes, in place: each block by itself, then what is left.

    Raises:
        ValueError: the model does not say which modules are its blocks.
    """
    names = set(getattr(model, "_no_split_modules", None) or ())
    blocks = [module for module in model.modules() if type(module).__name__ in names]
    if not blocks:
        raise ValueError(f"{type(model).__name__} does not name its blocks, so that it cannot be sharded (FSDP)")
    small = any(torch.finfo(p.dtype).bits < 32 for p in model.parameters())
    policy = MixedPrecisionPolicy(reduce_dtype=torch.float32 if small else None)  # what gradients are summed in
    mesh = init_device_mesh(next(model.parameters()).device.type, (dist.get_world_size(),))
    for module in (*blocks, model):
        fully_shard(module, mesh=mesh, reshard_after_forward=reshard_after_forward, mp_policy=policy)
    setattr(model, "forward_pass", types.MethodType(_call, model))  # noqa: B010
    register_fsdp_forward_method(model, "forward_pass")


def _call(model: nn.Module, function: Callable[..., T], *arguments: Any) -> T:
    return function(model, *arguments)


def forward_pass(model: nn.Module, function: Callable[..., T], *arguments: Any) -> T:
    """`function(model, *arguments)` as a forward pass of the model.

    A sharded model gathers the weights outside its blocks when its own forward pass begins; a function that calls the
    model's parts (the body, then the output head) has to be announced as one.
    """
    run = getattr(model, "forward_pass", None)
    return function(model, *arguments) if run is None else run(function, *arguments)


def full_tensor(tensor: Tensor) -> Tensor:
    """All of a tensor. Of a sharded one every process must ask for it."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


@torch.no_grad()
def publish(sharded: nn.Module, full: nn.Module) -> None:
    """Copy the trained weights of a sharded model into a full one, one tensor at a time."""
    targets = dict(full.named_parameters())
    for name, parameter in sharded.named_parameters():
        if parameter.requires_grad:
            targets[name].copy_(full_tensor(parameter))


@torch.no_grad()
def take_over(full: nn.Module, sharded: nn.Module) -> None:
    """Copy the weights of a full model into a sharded one; the inverse of `publish`, without communication."""
    sources = dict(full.named_parameters())
    for name, parameter in sharded.named_parameters():
        parameter.copy_(part_like(sources[name], parameter))


def gathered_state(state: Any, keep: bool) -> Any:
    """A state dict with full tensors in place of sharded ones, in the CPU's memory; None in processes that drop it.

    Every process must call it. One tensor at a time is gathered, so that only those that keep it hold it all.
    """
    if isinstance(state, Tensor):
        full = full_tensor(state)
        return full.cpu() if keep else None
    if isinstance(state, Mapping):
        return {key: gathered_state(value, keep) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return type(state)(gathered_state(value, keep) for value in state)
    return state


def sharded_moments(state: dict[str, Any], optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """An optimizer's state dict with every full tensor split like the parameter that it belongs to."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    moments = {
        index: {
            name: part_like(value, parameters[index]) if isinstance(value, Tensor) else value
            for name, value in s.items()
        }
        for index, s in state["state"].items()
    }
    return {**state, "state": moments}


def part_like(full: Tensor, target: Tensor) -> Tensor:
    """A tensor as this process holds it: its part where `target` is sharded (a step count is not)."""
    if not isinstance(target, DTensor) or full.shape != target.shape:
        return full
    return distribute_tensor(full.to(target.device), target.device_mesh, target.placements, src_data_rank=None)
