"""The processes of a run: which share of a step each one does, and what they tell each other.

Started by `accelerate launch` (or torchrun), every process holds the whole model or its part of it, asks and answers
its share of the prompts, and computes the gradient of its share of every mini-batch; these are summed. A process
that runs alone is the usual case, and then nothing here touches torch.distributed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn

from agents.faults import Fault
from agents.processes.launcher import read_launcher

T = TypeVar("T")

PATIENCE = timedelta(hours=24)  # the others wait while the main process evaluates; a process that dies ends them all
BUCKET = 2**26  # numbers that are summed over the processes in one call


@dataclass(frozen=True)
class Processes:
    """This process among all of the run. The default is a process that runs alone."""

    rank: int = 0
    """0 is the main process: the only one that writes, prints and evaluates."""
    count: int = 1
    device: str | None = None
    """Where this process computes, one of several; alone it is where `--device` says."""
    sharded: bool = False
    """Whether the weights, gradients and optimizer are split over the processes (FSDP) or repeated in each (DDP)."""
    reshard_after_forward: bool = True
    """FSDP: drop a block's gathered weights between the forward and the backward pass."""

    @property
    def main(self) -> bool:
        return self.rank == 0

    def share(self, prompts: Sequence[T]) -> list[T]:
        """This process's part of a mini-batch: every count-th prompt, so that shares differ by one prompt at most."""
        return list(prompts[self.rank :: self.count])

    def share_of_step(self, prompts: int, mini_batch: int) -> list[int]:
        """Places of this process's prompts in a step: its share of every mini-batch."""
        batches = (range(prompts)[first : first + mini_batch] for first in range(0, prompts, mini_batch))
        return [place for batch in batches for place in self.share(batch)]

    def gather(self, value: T) -> list[T]:
        """Every process's value (anything that pickles), by rank."""
        if self.count == 1:
            return [value]
        values: list[Any] = [None] * self.count
        dist.all_gather_object(values, value)
        return values

    def of_main(self, value: T) -> T:
        """The main process's value, in every process."""
        if self.count == 1:
            return value
        values = [value]
        dist.broadcast_object_list(values)
        return values[0]

    def first(self, value: T | None) -> T | None:
        """The first process's value that is not None."""
        return next((v for v in self.gather(value) if v is not None), None)

    def agreed(self, work: Callable[[], T], errors: type[Exception] | tuple[type[Exception], ...]) -> T:
        """`work()`; if it raises one of these errors in some process, it is raised in every process."""
        if self.count == 1:
            return work()
        result, error = None, None
        try:
            result = work()
        except errors as raised:
            error = raised
        if (found := self.first(error)) is not None:
            raise error or found
        return cast(T, result)

    def on_main(self, work: Callable[[], T]) -> T:
        """`work()` done by the main process: its result, or its ValueError or Fault, in every process."""
        return self.of_main(self.agreed(lambda: work() if self.main else cast(T, None), (ValueError, Fault)))

    def say(self, text: str) -> None:
        """A line on standard error, once."""
        if self.main:
            print(text, file=sys.stderr)

    def check_batch(self, prompts: int, mini_batch: int) -> None:
        """Raise ValueError where some process would have nothing to do."""
        if min(prompts, mini_batch) < self.count:
            raise ValueError(
                f"{self.count} processes need a prompt each: raise --prompts {prompts} or --learner.mini-batch "
                f"{mini_batch}, or use fewer processes (groups are not split)"
            )

    def most(self, number: int) -> int:
        """The largest of every process's number."""
        return max(self.gather(number))

    @property
    def loss_factor(self) -> float:
        """What a loss is multiplied by so that the gradients of all processes add up: FSDP averages them."""
        return float(self.count) if self.sharded else 1.0

    @torch.no_grad()
    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Add up the gradients of all processes, after the last backward pass of an update.

        Sharded gradients are reduced within the backward passes, and this does nothing. The processes must agree on
        which parameters have a gradient.
        """
        if self.count == 1 or self.sharded:
            return
        bucket: list[Tensor] = []
        size = 0
        for gradient in [p.grad for p in parameters if p.grad is not None]:
            if bucket and (size + gradient.numel() > BUCKET or gradient.dtype != bucket[0].dtype):
                _sum_in_place(bucket)
                bucket, size = [], 0
            bucket.append(gradient)
            size += gradient.numel()
        if bucket:
            _sum_in_place(bucket)

    @torch.no_grad()
    def same_weights(self, model: nn.Module) -> None:
        """Give every process the main process's weights: those that are drawn (an adapter's) may differ."""
        if self.count > 1:
            for tensor in [*model.parameters(), *model.buffers()]:
                dist.broadcast(tensor.data, src=0)

    def close(self, together: bool = False) -> None:
        """Leave the others: the main process may go on alone (the final evaluation).

        `together` waits for all of them first, so that nobody leaves while another still sends; not after an error,
        which some may not have met.
        """
        if self.count > 1 and dist.is_initialized():
            if together:
                dist.barrier()
            dist.destroy_process_group()


ALONE = Processes()


def _sum_in_place(tensors: list[Tensor]) -> None:
    if len(tensors) == 1 and tensors[0].is_contiguous():  # a large one needs no copy
        dist.all_reduce(tensors[0])
        return
    flat = torch.cat([t.flatten() for t in tensors])
    dist.all_reduce(flat)
    for tensor, part in zip(tensors, flat.split([t.numel() for t in tensors]), strict=True):
        tensor.copy_(part.view_as(tensor))


def open_processes(device: str) -> Processes:
    """This process among those of the launcher that started it; a process that runs alone without one.

    Raises:
        ValueError: one device for several processes, or a launcher's setting that is not honoured.
    """
    launcher = read_launcher(os.environ)
    if launcher.processes == 1:
        return ALONE
    if device not in ("auto", "cpu", "cuda"):
        raise ValueError(f"--device {device} is one device for {launcher.processes} processes: each takes its own")
    from accelerate import InitProcessGroupKwargs, PartialState

    on_cpu = device == "cpu" or not torch.cuda.is_available()
    state = PartialState(cpu=on_cpu, **InitProcessGroupKwargs(timeout=PATIENCE).to_kwargs())
    return Processes(
        state.process_index, state.num_processes, str(state.device), launcher.sharded, launcher.reshard_after_forward
    )
