"""The memory estimate counts what real models hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from agents_helpers import family_model
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedConfig, PreTrainedModel, Qwen2Config, Qwen3Config

from agents.config import LearnerConfig, LoraConfig, SamplingConfig, TrainConfig
from agents.lora import add_adapter
from agents.memory_estimate import GIB, Setting, activation_bytes, memory_items, peak
from agents.model_facts import find_config, known_config, model_size
from agents.precision import computing_in
from agents.presets import PAPER

SMALL = {
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "bos_token_id": 1,
    "eos_token_id": 1,
    "pad_token_id": 0,
}


@pytest.mark.parametrize("family", ["gpt2", "llama", "qwen3", "mistral"])
def test_parameters_are_counted_exactly(family: str) -> None:
    model = family_model(family, 50)
    size = model_size(model.config, LoraConfig())
    assert size.parameters == size.trained == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("targets", [("all-linear",), ("q_proj", "down_proj")])
def test_an_adapter_is_counted_exactly(targets: tuple[str, ...]) -> None:
    model, lora = family_model("qwen3", 50), LoraConfig(rank=3, targets=targets)
    size = model_size(model.config, lora)
    add_adapter(model, lora, 0, "somewhere")
    assert size.trained == sum(p.numel() for p in model.parameters() if p.requires_grad)


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("Qwen/Qwen3-1.7B", 1_720_574_976),
        ("Qwen/Qwen3-4B", 4_022_468_096),
        ("Qwen/Qwen3-8B", 8_190_735_360),
        ("Qwen/Qwen2.5-Coder-7B-Instruct", 7_615_616_512),
    ],
)
def test_the_papers_models_have_the_published_numbers_of_parameters(model: str, parameters: int) -> None:
    config = known_config(model)
    assert config is not None
    assert model_size(config, LoraConfig()).parameters == parameters


def test_every_model_of_the_paper_is_known() -> None:
    assert all(known_config(paper.model) is not None for paper in PAPER.values())


def test_a_model_in_a_folder_is_found_and_one_at_the_hub_is_not_asked_for(policy_folder: Path) -> None:
    found = find_config(TrainConfig(model=str(policy_folder)))
    assert found is not None
    assert found.num_hidden_layers == 2
    assert find_config(TrainConfig(model="somebody/their-model")) is None


def kept_bytes(model: PreTrainedModel, ids: torch.Tensor, dtype: torch.dtype) -> int:
    """Memory that the backward pass of the transformer needs, the weights themselves not counted."""
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if (pointer := tensor.untyped_storage().data_ptr()) not in weights:
            kept[pointer] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor), computing_in(dtype, ids.device):
        model.base_model(input_ids=ids, use_cache=False)
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


def configs(layers: int) -> Sequence[PreTrainedConfig]:
    return [
        LlamaConfig(**SMALL, num_hidden_layers=layers),
        Qwen2Config(**SMALL, num_hidden_layers=layers),
        Qwen3Config(**SMALL, num_hidden_layers=layers, head_dim=24),
    ]


@pytest.mark.parametrize("family", [0, 1, 2])
@pytest.mark.parametrize(
    ("weights", "computed"),
    [(torch.float32, torch.float32), (torch.float32, torch.bfloat16), (torch.bfloat16, torch.bfloat16)],
)
def test_activations_are_those_that_the_backward_pass_keeps(
    family: int, weights: torch.dtype, computed: torch.dtype
) -> None:
    ids = torch.arange(5, 69)[None]
    kept, casts = [], []
    for layers in (1, 2):
        model = AutoModelForCausalLM.from_config(configs(layers)[family]).to(weights)
        size = model_size(model.config, LoraConfig())
        kept.append(kept_bytes(model, ids, computed))
        casts.append(2 * size.matrices if weights != computed else 0)
    of_a_layer = (kept[1] - kept[0]) - (casts[1] - casts[0])
    estimate = activation_bytes(size, computed == torch.bfloat16, weights == torch.bfloat16)
    assert of_a_layer == ids.numel() * estimate


def test_the_arithmetic_of_a_preset() -> None:
    """Qwen3-1.7B on ToolRL, worked out by hand."""
    config = TrainConfig(
        prompts=128,
        prompt_tokens=4352,
        num_answers=3,
        sampling=SamplingConfig(max_tokens=2048, rows=64),
        learner=LearnerConfig(gradient_checkpointing=True),
    )
    known = known_config("Qwen/Qwen3-1.7B")
    assert known is not None
    items = memory_items(config, model_size(known, LoraConfig()), Setting(low_precision=True, vllm=False, cuda=True))
    gib = {(item.name, item.phase): item.bytes / GIB for item in items}
    parameters = 1_720_574_976 / GIB
    assert gib["weights", "always"] == gib["reference", "always"] == gib["gradients", "learning"] == 4 * parameters
    assert gib["optimizer", "always"] == 8 * parameters
    assert gib["key-value cache", "generation"] == 64 * 6400 * 28 * 2 * 8 * 128 * 2 / GIB
    assert gib["logits of a chunk", "learning"] == 3 * 1024 * 151936 * 4 / GIB
    always = 16 * parameters
    learning = sum(value for (_, phase), value in gib.items() if phase == "learning")
    generation = sum(value for (_, phase), value in gib.items() if phase == "generation")
    assert generation > learning
    assert peak(items) / GIB == pytest.approx(always + generation)


def test_what_saves_memory_saves_it() -> None:
    known = known_config("Qwen/Qwen3-1.7B")
    assert known is not None
    setting = Setting(low_precision=True, vllm=False, cuda=True)

    def names(**changes: object) -> dict[str, float]:
        lora = LoraConfig(rank=8) if changes.pop("lora", False) else LoraConfig()
        config = TrainConfig(learner=LearnerConfig(**changes), lora=lora)  # type: ignore[arg-type]
        return {
            i.name: i.bytes for i in memory_items(config, model_size(known, lora), setting) if i.phase != "generation"
        }

    plain = names()
    assert names(gradient_checkpointing=True)["activations"] < plain["activations"] / 10
    assert names(micro_batch_tokens=2000)["activations"] < plain["activations"] / 7
    assert names(lora=True)["optimizer"] < plain["optimizer"] / 50
    assert "reference" not in names(lora=True)
    assert "reference" not in names(kl_coef=0.0)
    assert names(param_dtype="bfloat16")["reference"] == plain["reference"] / 2
    assert "bfloat16 casts" not in names(param_dtype="bfloat16")
