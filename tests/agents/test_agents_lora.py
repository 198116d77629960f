"""LoRA: the base is the reference, only the adapter is trained and saved, and peft agrees with all of it."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from agents_helpers import family_model, random_prompts, sampled_rollouts
from learner_reference import reference_step
from peft import AutoPeftModelForCausalLM, PeftModel, get_peft_model
from peft import LoraConfig as PeftLoraConfig
from torch import Tensor
from transformers import PreTrainedModel

from agents.checkpoint import latest_checkpoint, load_checkpoint, save_checkpoint
from agents.config import LearnerConfig, LoraConfig, SamplingConfig, TrainConfig
from agents.config_checks import check_lora
from agents.learner import Learner
from agents.lora import adapter_off, add_adapter, has_adapter, merged_parameters
from agents.policy import Policy, load_policy, open_policy
from agents.train_vpo import train

LORA = LoraConfig(rank=4, alpha=8.0)
CONFIG = LearnerConfig(lr=1e-3, mini_batch=64, micro_batch=4, kl_coef=0.05)
ADVANTAGES = torch.tensor([[1.5, -0.5, 0.0, -1.0], [0.3, 0.3, -2.0, 1.4], [-0.7, 0.1, 0.9, -0.3]])
CPU = torch.device("cpu")


def adapted(family: str, moved: bool = True, lora: LoraConfig = LORA) -> PreTrainedModel:
    """A model in double precision with an adapter; `moved` is one that does something."""
    model = family_model(family, 60).double()
    add_adapter(model, lora, seed=0, base="base")
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if moved and "lora_B" in name:
                p.copy_(0.3 * torch.randn(p.shape, generator=generator, dtype=p.dtype))
    return model


def logits(model: Any) -> Tensor:
    ids = torch.tensor(random_prompts(60, (11, 11)))
    with torch.no_grad():
        return model(input_ids=ids, use_cache=False).logits  # type: ignore[no-any-return]


@pytest.mark.parametrize("family", ["gpt2", "llama", "qwen3"])
def test_an_adapter_starts_as_no_change_and_leaves_the_base_when_off(family: str) -> None:
    base = logits(family_model(family, 60).double())
    assert torch.equal(logits(adapted(family, moved=False)), base)
    model = adapted(family)
    assert (logits(model) - base).abs().max() > 0.1
    with adapter_off(model):
        assert torch.equal(logits(model), base)
    assert (logits(model) - base).abs().max() > 0.1
    assert {".lora_" in name for name, p in model.named_parameters() if p.requires_grad} == {True}
    assert model.get_output_embeddings().weight.requires_grad is False


def test_the_seed_decides_the_adapter_and_no_random_state_is_used() -> None:
    before = torch.get_rng_state()
    same, again, other = (adapted("llama"), adapted("llama"), family_model("llama", 60).double())
    add_adapter(other, LORA, seed=1, base="base")
    assert torch.equal(torch.get_rng_state(), before)
    name = "model.layers.0.mlp.up_proj.lora_A.default.weight"
    assert torch.equal(same.get_parameter(name), again.get_parameter(name))
    assert not torch.equal(same.get_parameter(name), other.get_parameter(name))


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_a_step_is_the_reference_step_with_the_base_as_reference(family: str) -> None:
    """The slow reference gets the frozen base as a model of its own."""
    model = adapted(family)
    rollouts = sampled_rollouts(model, (5, 9, 2), group_size=4)
    expected = reference_step(model, family_model(family, 60).double(), rollouts, ADVANTAGES, CONFIG, 0.7)
    learner = Learner(model, CONFIG, temperature=0.7)
    assert learner.reference is None, "no second copy"
    before = deepcopy(model)
    assert learner.step(rollouts, ADVANTAGES)["kl"] > 1e-3
    for (name, p), q, start in zip(model.named_parameters(), expected.parameters(), before.parameters(), strict=True):
        assert (p - q).abs().max() < 1e-6, name
        assert torch.equal(p, start) != p.requires_grad, name


@pytest.mark.parametrize("changes", [{"micro_batch": 100, "micro_batch_tokens": 30}, {"gradient_checkpointing": True}])
def test_memory_options_do_not_change_the_update(changes: dict[str, Any]) -> None:
    usual, other = adapted("llama"), adapted("llama")
    rollouts = sampled_rollouts(usual, (5, 9, 2), group_size=4)
    expected = Learner(usual, CONFIG, 0.7).step(rollouts, ADVANTAGES)
    assert Learner(other, replace(CONFIG, **changes), 0.7).step(rollouts, ADVANTAGES) == pytest.approx(expected)
    for p, q in zip(usual.parameters(), other.parameters(), strict=True):
        assert (p - q).abs().max() < 1e-9


@pytest.mark.parametrize("family", ["gpt2", "llama", "qwen3"])
@pytest.mark.parametrize("kind", ["injected", "peft"])
def test_merged_parameters_are_an_ordinary_model(family: str, kind: str) -> None:
    """Under the base's names, whether the adapter was injected or peft wrapped the model; all its parameters, once."""
    base = family_model(family, 60).double()
    model: Any = adapted(family)
    if kind == "peft":
        plain = family_model(family, 60).double()
        lora = PeftLoraConfig(r=4, lora_alpha=8, target_modules="all-linear", fan_in_fan_out=family == "gpt2")
        wrapped = get_peft_model(plain, lora)
        own = dict(wrapped.named_parameters())
        with torch.no_grad():
            for name, p in model.named_parameters():
                if ".lora_" in name:
                    own[f"base_model.model.{name}"].copy_(p)
        model = wrapped.double()
    merged = dict(merged_parameters(model))
    assert list(merged) == [name for name, _ in base.named_parameters()]
    changed = sum(not torch.equal(p, merged[name]) for name, p in base.named_parameters())
    assert changed == {"gpt2": 2 * 4, "llama": 2 * 7, "qwen3": 2 * 7}[family], "every linear layer of both blocks"
    base.load_state_dict(merged, strict=False)
    torch.testing.assert_close(logits(base), logits(model), rtol=0, atol=1e-12 if kind == "injected" else 1e-5)


def test_merging_is_done_in_float32() -> None:
    """A change that bfloat16 weights would swallow is there in what an engine gets."""
    model = family_model("llama", 60).bfloat16()
    add_adapter(model, LORA, seed=0, base="base")
    layer: Any = model.model.layers[0].mlp.up_proj
    with torch.no_grad():
        layer.lora_B["default"].weight.fill_(1e-6)
    merged = dict(merged_parameters(model))["model.layers.0.mlp.up_proj.weight"]
    change = merged - layer.base_layer.weight.float()
    assert merged.dtype == torch.float32
    assert change.abs().max() > 0
    expected = 2 * layer.lora_B["default"].weight @ layer.lora_A["default"].weight
    torch.testing.assert_close(change, expected, rtol=0, atol=1e-7)


def test_a_model_without_an_adapter_merges_to_itself() -> None:
    model = family_model("qwen3", 60)
    assert not has_adapter(model)
    for (name, p), (other, q) in zip(model.named_parameters(), merged_parameters(model), strict=True):
        assert (name, True) == (other, p is q)


def test_targets() -> None:
    model = adapted("llama", lora=replace(LORA, targets=("q_proj", "v_proj")))
    names = {name.split(".lora_")[0].rpartition(".")[2] for name, p in model.named_parameters() if p.requires_grad}
    assert names == {"q_proj", "v_proj"}
    with pytest.raises(ValueError, match=r"--lora.targets: .*nothing_like_it"):
        adapted("llama", lora=replace(LORA, targets=("nothing_like_it",)))
    with pytest.raises(ValueError, match=r"--lora.targets: model.embed_tokens is not a linear layer"):
        adapted("llama", lora=replace(LORA, targets=("embed_tokens",)))


@pytest.mark.parametrize(
    ("lora", "learner", "message"),
    [
        (LoraConfig(rank=-1), LearnerConfig(), "--lora.rank must be at least 0, not -1"),
        (LoraConfig(alpha=64), LearnerConfig(), "need --lora.rank above 0"),
        (LoraConfig(rank=4, alpha=0), LearnerConfig(), "--lora.alpha must be above 0, not 0"),
        (LoraConfig(rank=4, targets=()), LearnerConfig(), "--lora.targets takes names"),
        (LoraConfig(rank=4, targets=("all-linear", "q_proj")), LearnerConfig(), "--lora.targets takes names"),
        (LoraConfig(rank=4), LearnerConfig(offload_reference=True), "the reference is the model without its adapter"),
    ],
)
def test_options_that_make_no_adapter(lora: LoraConfig, learner: LearnerConfig, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_lora(lora, learner)
    check_lora(LoraConfig(), LearnerConfig())
    check_lora(LORA, LearnerConfig())


def trained(policy_folder: Path) -> tuple[Policy, Learner]:
    """The tiny policy with an adapter after one step."""
    policy = open_policy(str(policy_folder), "vpo/Maze-v0", {}, "cpu", "auto")
    policy.add_lora(LORA, seed=0)
    learner = Learner(policy.model, CONFIG, 1.0)
    learner.step(sampled_rollouts(policy.model, (5, 9, 2), group_size=4), ADVANTAGES)
    return policy, learner


def test_checkpoints_hold_only_the_adapter_and_resume_exactly(policy_folder: Path, tmp_path: Path) -> None:
    policy, learner = trained(policy_folder)
    save_checkpoint(tmp_path, 1, policy.model, learner.state_dict(), keep=2, tokenizer=policy.tokenizer)
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert not (found.folder / "model.safetensors").exists()
    assert (found.folder / "adapter_model.safetensors").exists()

    other = open_policy(str(policy_folder), "vpo/Maze-v0", {}, "cpu", "auto")
    other.add_lora(LORA, seed=5)
    resumed = Learner(other.model, CONFIG, 1.0)
    resumed.load_state_dict(load_checkpoint(found, other.model))
    rollouts = sampled_rollouts(policy.model, (3, 4, 8), group_size=4)
    assert resumed.step(rollouts, ADVANTAGES) == learner.step(rollouts, ADVANTAGES)
    for p, q in zip(policy.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(p, q)


def test_a_checkpoint_of_another_adapter_or_a_whole_model_is_refused(policy_folder: Path, tmp_path: Path) -> None:
    policy, _ = trained(policy_folder)
    of_adapter = save_checkpoint(tmp_path / "a", 1, policy.model, {}, keep=2)
    plain = open_policy(str(policy_folder), "vpo/Maze-v0", {}, "cpu", "auto")
    of_model = save_checkpoint(tmp_path / "b", 1, plain.model, {}, keep=2)
    with pytest.raises(ValueError, match=r"belongs to another model: it has no adapter_model.safetensors"):
        load_checkpoint(of_model, policy.model)
    with pytest.raises(ValueError, match=r"belongs to another model: it has no model.safetensors"):
        load_checkpoint(of_adapter, plain.model)
    plain.add_lora(replace(LORA, rank=2), seed=0)
    with pytest.raises(ValueError, match=r"belongs to another model or adapter: base_model.model.*lora_A.weight"):
        load_checkpoint(of_adapter, plain.model)


def test_a_saved_adapter_is_loaded_by_peft_and_by_us(policy_folder: Path, tmp_path: Path) -> None:
    """peft finds the base by itself; our own commands take the folder like any model and merge it."""
    policy, _ = trained(policy_folder)
    policy.save(tmp_path / "final")
    assert not (tmp_path / "final" / "config.json").exists()
    assert json.loads((tmp_path / "final" / "adapter_config.json").read_text())["r"] == 4
    expected = logits(policy.model)
    assert torch.equal(logits(AutoPeftModelForCausalLM.from_pretrained(tmp_path / "final").eval()), expected)
    base = load_policy(str(policy_folder), CPU, torch.float32).model
    assert (logits(base) - expected).abs().max() > 1e-3
    assert torch.equal(logits(PeftModel.from_pretrained(base, tmp_path / "final").eval()), expected)

    ours = load_policy(str(tmp_path / "final"), CPU, torch.float32)
    assert not has_adapter(ours.model)
    torch.testing.assert_close(logits(ours.model), expected, rtol=0, atol=1e-5)
    ours.save(tmp_path / "merged")
    torch.testing.assert_close(logits(load_policy(str(tmp_path / "merged"), CPU, torch.float32).model), expected)
    assert "merge_and_unload" in (tmp_path / "final" / "README.md").read_text()
    with pytest.raises(ValueError, match="is an adapter itself"):
        ours.add_lora(LORA, seed=0)


def test_an_adapter_whose_base_is_gone(policy_folder: Path, tmp_path: Path) -> None:
    policy, _ = trained(policy_folder)
    policy.save(tmp_path / "final")
    path = tmp_path / "final" / "adapter_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"base_model_name_or_path": str(tmp_path / "gone")}))
    with pytest.raises(ValueError, match=r"final is an adapter of .*/gone, which does not exist"):
        load_policy(str(tmp_path / "final"), CPU, torch.float32)


def test_a_run_with_an_adapter(policy_folder: Path, tmp_path: Path) -> None:
    """Trained in one go, and stopped and resumed: the same metrics; the final model is the adapter."""
    config = TrainConfig(
        env_args=("size=5", "slack=4", "num_problems=50"),
        model=str(policy_folder),
        preset="laptop",
        steps=2,
        prompts=2,
        answers_per_prompt=6,
        prompt_tokens=256,
        output=str(tmp_path),
        name="straight",
        checkpoint_every=1,
        final_evaluation=False,
        sampling=SamplingConfig(max_tokens=16),
        learner=replace(CONFIG, gradient_checkpointing=True, micro_batch_tokens=300),
        lora=LORA,
    )
    straight = train(config)
    train(replace(config, name="resumed", steps=1))
    resumed = train(replace(config, name="resumed", resume=str(tmp_path / "resumed"), steps=2))
    assert metrics(resumed) == metrics(straight)
    assert (straight / "final" / "adapter_model.safetensors").exists()
    assert not (straight / "final" / "model.safetensors").exists()
    saved = AutoPeftModelForCausalLM.from_pretrained(straight / "final").eval()
    checkpoint = AutoPeftModelForCausalLM.from_pretrained(straight / "checkpoints" / "step-000002").eval()
    assert torch.equal(logits(saved), logits(checkpoint))
    with pytest.raises(ValueError, match=r"lora.rank: 4 -> 8"):
        train(replace(config, resume=str(resumed), lora=replace(LORA, rank=8)))


def metrics(folder: Path) -> list[dict[str, float]]:
    """The lines of `metrics.jsonl` without timings."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if not name.startswith("time/")} for line in lines]
