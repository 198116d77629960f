"""LoRA adapters (Hu et al. 2021, arXiv 2106.09685): a few trained weights beside a frozen model, with peft.

The adapter is injected into the model, which stays the transformers model it was. Switched off, it leaves the base.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import PreTrainedModel

from agents.config import LoraConfig

if TYPE_CHECKING:  # peft takes a second to import, and is needed for adapters only
    from peft import PeftModel

ADAPTER = "default"
CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"
PREFIX = "base_model.model."  # what peft puts before the names in an adapter's file
README = """\
A LoRA adapter; the model is the base with these weights beside it. To load it, and to merge it into an ordinary model:

    from peft import AutoPeftModelForCausalLM

    model = AutoPeftModelForCausalLM.from_pretrained("path/to/this/folder")   # loads {base}
    model.merge_and_unload().save_pretrained("path/to/merged")
"""


def add_adapter(model: PreTrainedModel, config: LoraConfig, seed: int, base: str) -> None:
    """Freeze the weights and inject a float32 adapter that starts as no change at all.

    Args:
        model: changed in place.
        config: rank, alpha and targets. seed: of the random half of the adapter.
        base: hub id or folder of the model, which the saved adapter names.

    Raises:
        ValueError: the targets name no module, or one that is not linear.
    """
    from peft import LoraConfig as PeftLoraConfig
    from peft.tuners.lora import Linear as LoraLinear
    from peft.tuners.lora import LoraLayer

    targets: Any = "all-linear" if config.targets == ("all-linear",) else list(config.targets)
    alpha: Any = config.alpha  # typed as a whole number, which it need not be
    adapter = PeftLoraConfig(
        r=config.rank, lora_alpha=alpha, target_modules=targets, task_type="CAUSAL_LM", base_model_name_or_path=base
    )
    with torch.random.fork_rng(devices=[model.device] if model.device.type == "cuda" else []), catch_warnings():
        filterwarnings("ignore", "fan_in_fan_out is set to False")  # peft sees GPT-2's transposed layers by itself
        torch.manual_seed(seed)
        try:
            model.add_adapter(adapter, ADAPTER)
        except ValueError as error:
            raise ValueError(f"--lora.targets: {str(error).splitlines()[0]}") from error
    for name, module in model.named_modules():
        if isinstance(module, LoraLayer) and not isinstance(module, LoraLinear):
            raise ValueError(f"--lora.targets: {name} is not a linear layer")
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(torch.promote_types(parameter.dtype, torch.float32))
    model.eval()


def has_adapter(model: nn.Module) -> bool:
    """Whether any layer of the model carries an adapter."""
    return hasattr(model, "peft_config")


@contextmanager
def adapter_off(model: PreTrainedModel) -> Iterator[None]:
    """A context in which the model is its frozen base."""
    model.disable_adapters()
    try:
        yield
    finally:
        model.enable_adapters()


@torch.no_grad()
def merged_parameters(model: PreTrainedModel | PeftModel) -> Iterator[tuple[str, Tensor]]:
    """Each parameter of the model that an engine without adapters must load, under the base model's own name.

    An adapted weight is W + scaling * B A, computed and given in float32 (one at a time, so that one is the memory it
    takes); all others are the parameters themselves. Without an adapter these are the named parameters.

    Raises:
        ValueError: an adapter that is not plain LoRA.
    """
    if not has_adapter(model):
        yield from model.named_parameters()
        return
    from peft import PeftModel
    from peft.tuners.lora import LoraLayer

    base = model.get_base_model() if isinstance(model, PeftModel) else model
    adapted = {name: module for name, module in base.named_modules() if isinstance(module, LoraLayer)}
    for name, parameter in base.named_parameters():
        owner, _, leaf = name.rpartition(".")
        layer = adapted.get(owner.removesuffix(".base_layer"))
        if owner.endswith(".base_layer") and layer is not None:
            plain = f"{owner.removesuffix('.base_layer')}.{leaf}"
            yield plain, parameter + _change(plain, layer) if leaf == "weight" else parameter
        elif "modules_to_save" in name:
            raise ValueError(f"{name}: only plain LoRA adapters can be merged, without modules_to_save")
        elif not any(part.startswith("lora_") for part in owner.split(".")):
            yield name, parameter


def adapter_tensors(model: PreTrainedModel) -> dict[str, Tensor]:
    """The adapter's weights (no copies) under the names that they have in a file of peft."""
    return {
        PREFIX + name.replace(f".{ADAPTER}.", "."): tensor
        for name, tensor in model.state_dict().items()
        if ".lora_" in name
    }


def save_adapter(model: PreTrainedModel, folder: Path) -> None:
    """Write the adapter alone, as peft does, and say in a README how to use it; its configuration names the base."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.contiguous() for name, tensor in adapter_tensors(model).items()}
    save_file(tensors, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    config = model.peft_config[ADAPTER]
    config.save_pretrained(str(folder))
    (folder / "README.md").write_text(README.format(base=config.base_model_name_or_path))


@torch.no_grad()
def load_adapter(model: PreTrainedModel, folder: Path) -> None:
    """Put a saved adapter's weights into the model's own.

    Raises:
        ValueError: it has other layers or another rank.
    """
    if not (folder / WEIGHTS_FILE).is_file():
        raise ValueError(f"{folder} belongs to another model: it has no {WEIGHTS_FILE}")
    own, saved = adapter_tensors(model), load_file(folder / WEIGHTS_FILE)
    for name in sorted(own.keys() | saved.keys()):
        if name not in own or name not in saved or own[name].shape != saved[name].shape:
            raise ValueError(f"{folder} belongs to another model or adapter: {name}")
        own[name].copy_(saved[name])


def is_adapter(folder: Path) -> bool:
    """Whether a folder holds an adapter and not a whole model."""
    return (folder / CONFIG_FILE).is_file() and not (folder / "config.json").is_file()


def _change(name: str, layer: Any) -> Tensor:
    """scaling * B A in float32 at least, laid out like the layer's weight of this name."""
    if layer.use_dora.get(ADAPTER) or layer.lora_bias.get(ADAPTER):
        raise ValueError(f"{name}: only plain LoRA adapters can be merged, without DoRA and without a bias")
    a, b = (part[ADAPTER].weight for part in (layer.lora_A, layer.lora_B))
    wide = torch.promote_types(a.dtype, torch.float32)
    change = layer.scaling[ADAPTER] * (b.to(wide) @ a.to(wide))
    return change.T if layer.fan_in_fan_out else change
