"""The weights of a model as an engine takes them: plain names, adapters merged, one tensor at a time."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from peft import PeftModel
from peft.tuners.lora import LoraLayer
from transformers import PreTrainedModel


def named_weights(model: PreTrainedModel | PeftModel) -> Iterator[tuple[str, torch.Tensor]]:
    """The model's parameters under the names of its checkpoint; a tied one once.

    LoRA adapters are merged on the way: W + scaling * B A in float32, and the model itself is not touched, because
    merging in place and subtracting again would not give back the same bits.

    Raises:
        ValueError: an adapter that is not plain LoRA.
    """
    base = model.get_base_model() if isinstance(model, PeftModel) else model  # the learner's adapters are injected
    layers = {name: module for name, module in base.named_modules() if isinstance(module, LoraLayer)}
    for name, parameter in base.named_parameters():
        owner, _, leaf = name.rpartition(".")
        path = owner.removesuffix(".base_layer")
        if owner.endswith(".base_layer") and path in layers:
            weight = parameter.detach()
            yield f"{path}.{leaf}", weight + _change(path, layers[path], weight) if leaf == "weight" else weight
        elif ".lora_" not in name:
            if "modules_to_save" in name:
                raise ValueError(f"{name}: an engine takes LoRA adapters only, without modules_to_save")
            yield name, parameter.detach()


@torch.no_grad()
def _change(name: str, layer: LoraLayer, weight: torch.Tensor) -> torch.Tensor:
    """What the active adapters of a layer add to its weight."""
    total = torch.zeros_like(weight)
    if layer.disable_adapters:
        return total
    for adapter in layer.active_adapters:
        if adapter not in layer.lora_A and adapter not in layer.lora_embedding_A:
            continue
        if layer.use_dora.get(adapter) or layer.lora_bias.get(adapter):
            raise ValueError(f"{name}: an engine takes plain LoRA adapters, without DoRA and without a bias")
        total += layer.get_delta_weight(adapter)  # type: ignore[attr-defined]
    return total
