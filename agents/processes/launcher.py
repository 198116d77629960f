"""What `accelerate launch` tells the processes that it starts, in environment variables, and which of it is honoured.

The number of processes and FSDP are the launcher's business; numbers and memory have options of their own, and a
launcher that is configured for them is refused rather than ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

HONOURED: dict[str, tuple[tuple[str, ...], str]] = {
    "ACCELERATE_USE_DEEPSPEED": (("false",), "several processes are DDP or FSDP here"),
    "ACCELERATE_USE_MEGATRON_LM": (("false",), "several processes are DDP or FSDP here"),
    "ACCELERATE_MIXED_PRECISION": (("no",), "what is computed in is --dtype"),
    "ACCELERATE_DYNAMO_BACKEND": (("no",), "the model is not compiled"),
    "ACCELERATE_GRADIENT_ACCUMULATION_STEPS": (("1",), "the cut into passes is --learner.micro-batch"),
}
"""Setting -> the values that are honoured, and what to use instead of others."""

HONOURED_FSDP: dict[str, tuple[tuple[str, ...], str]] = {
    "FSDP_VERSION": (("2",), "set fsdp_version: 2"),
    "FSDP_OFFLOAD_PARAMS": (("false",), "use more processes, or LoRA (--lora.rank)"),
    "FSDP_ACTIVATION_CHECKPOINTING": (("false",), "use --learner.gradient-checkpointing"),
    "FSDP_AUTO_WRAP_POLICY": (("transformer_based_wrap", "none"), "the model's blocks are wrapped"),
    "FSDP_TRANSFORMER_CLS_TO_WRAP": (("", "none"), "the model says itself which modules are its blocks"),
    "FSDP_IGNORED_MODULES": (("", "none"), "every module is sharded"),
    "FSDP_STATE_DICT_TYPE": (("full_state_dict",), "checkpoints hold whole tensors"),
}


@dataclass(frozen=True)
class Launcher:
    """What the launcher asks for."""

    processes: int = 1
    sharded: bool = False
    """FSDP instead of DDP."""
    reshard_after_forward: bool = True
    """Drop a block's gathered weights between the forward and the backward pass."""


def read_launcher(variables: Mapping[str, str]) -> Launcher:
    """What the environment of a process says; one process without sharding where no launcher started it.

    Raises:
        ValueError: a setting that would be ignored.
    """
    processes = int(variables.get("WORLD_SIZE", "1"))
    sharded = variables.get("ACCELERATE_USE_FSDP", "false").lower() == "true" and processes > 1
    for name, (honoured, instead) in {**HONOURED, **(HONOURED_FSDP if sharded else {})}.items():
        value = variables.get(name, honoured[0])
        if value.lower() not in honoured:
            raise ValueError(f"{name.lower()}={value} of accelerate is not honoured: {instead}")
    reshard = variables.get("FSDP_RESHARD_AFTER_FORWARD", "true").lower() == "true"
    return Launcher(processes, sharded, reshard)


def refuse_launcher(variables: Mapping[str, str], what: str) -> None:
    """Raise ValueError in one of several processes: `what` is for one, and all would do and write the same."""
    if read_launcher(variables).processes > 1:
        raise ValueError(f"{what} is one process; start it without a launcher")
