"""Loading a policy, and turning messages into tokens."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from agents_helpers import CONTEXT

from agents import policy as policy_module
from agents.policy import Policy, builtin_folder, load_policy, open_policy

CPU = torch.device("cpu")
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Plan a route from S to E."}]


def load(folder: Path | str) -> Policy:
    return load_policy(str(folder), CPU, torch.float32)


def test_a_saved_policy_comes_back(policy: Policy, tmp_path: Path) -> None:
    policy.save(tmp_path / "copy")
    copy = load(tmp_path / "copy")
    assert copy.source == str(tmp_path / "copy")
    assert copy.prompt_ids(MESSAGES) == policy.prompt_ids(MESSAGES)
    for (name, a), (_, b) in zip(copy.model.named_parameters(), policy.model.named_parameters(), strict=True):
        assert torch.equal(a, b), name
    assert not copy.model.training
    assert copy.context == CONTEXT
    assert copy.end_ids == [policy.tokenizer.eos_token_id]


def test_end_ids_are_those_of_the_generation_settings(policy: Policy) -> None:
    policy.model.generation_config.eos_token_id = [3, 4]
    assert policy.end_ids == [3, 4]
    policy.model.generation_config.eos_token_id = None
    assert policy.end_ids == [policy.tokenizer.eos_token_id]


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"model folder .*/none does not exist"):
        load(tmp_path / "none")


def test_a_folder_without_a_model_points_to_the_one_inside(policy_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no model \(config.json is missing\)$"):
        load(tmp_path)
    shutil.copytree(policy_folder, tmp_path / "final")
    with pytest.raises(ValueError, match=r"config.json is missing\); did you mean .*/final\?"):
        load(tmp_path)


def test_a_folder_without_a_tokenizer(policy_folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        shutil.copy(policy_folder / name, tmp_path)
    with pytest.raises(ValueError, match="holds no tokenizer; save the model's tokenizer"):
        load(tmp_path)


def test_a_folder_without_weights(policy_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(policy_folder, tmp_path / "copy")
    (tmp_path / "copy" / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="cannot load the model"):
        load(tmp_path / "copy")


def test_a_tokenizer_without_padding_pads_with_its_end(policy: Policy, tmp_path: Path) -> None:
    policy.tokenizer.pad_token = None
    policy.save(tmp_path)
    assert load(tmp_path).tokenizer.pad_token_id == policy.tokenizer.eos_token_id


def test_device_and_precision(policy_folder: Path) -> None:
    source = str(policy_folder)
    assert open_policy(source, "vpo/Maze-v0", {}, "cpu", "auto").dtype == torch.float32
    half = open_policy(source, "vpo/Maze-v0", {}, "cpu", "bfloat16")
    assert half.dtype == torch.bfloat16
    assert half.model.dtype == torch.float32  # a step of 1e-6 would be lost in bfloat16 weights
    with pytest.raises(ValueError, match="--device quantum: "):
        open_policy(source, "vpo/Maze-v0", {}, "quantum", "auto")


def test_prompts_use_the_models_chat_template(policy: Policy) -> None:
    text = policy.tokenizer.decode(policy.prompt_ids(MESSAGES))
    assert text == "<|system|>Be brief.<|user|>Plan a route from S to E.<|assistant|>"


def test_thinking_mode_is_turned_off(policy: Policy) -> None:
    policy.tokenizer.chat_template = "{% if enable_thinking is false %}short{% else %}long{% endif %}"
    assert policy.tokenizer.decode(policy.prompt_ids(MESSAGES)) == "short"


def test_without_a_chat_template_prompts_are_plain_text(policy: Policy) -> None:
    policy.tokenizer.chat_template = None
    text = policy.tokenizer.decode(policy.prompt_ids(MESSAGES))
    assert text == "Be brief.\n\nPlan a route from S to E.\n\n"


def test_encoded_prompts_keep_their_order(policy: Policy) -> None:
    other = [{"role": "user", "content": "G"}]
    encoded = policy.encode_prompts([MESSAGES, other, MESSAGES], max_tokens=100, room=10)
    assert encoded == [policy.prompt_ids(MESSAGES), policy.prompt_ids(other), policy.prompt_ids(MESSAGES)]


def test_a_prompt_that_is_too_long_is_refused(policy: Policy) -> None:
    prompts = [MESSAGES, [{"role": "user", "content": "G " * 60}]]
    length = len(policy.prompt_ids(prompts[1]))
    policy.encode_prompts(prompts, max_tokens=length, room=CONTEXT - length)
    with pytest.raises(ValueError, match=rf"prompt 1 has {length} tokens, --prompt-tokens allows {length - 1}"):
        policy.encode_prompts(prompts, max_tokens=length - 1, room=1)
    with pytest.raises(ValueError, match=rf"prompt 1 has {length} tokens and responses up to .* is {CONTEXT};"):
        policy.encode_prompts(prompts, max_tokens=length, room=CONTEXT - length + 1)


def test_responses_are_decoded_without_special_tokens(policy: Policy) -> None:
    ids = policy.tokenizer("<answer>UP (0,1) LEFT (0,0)</answer><|end|>")["input_ids"]
    assert ids[-1] in policy.end_ids
    assert policy.decode(ids) == "<answer>UP (0,1) LEFT (0,0)</answer>"


@pytest.fixture
def shipped(policy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that ships one policy, made for mazes of size 5 and slack 4."""
    folder = tmp_path / "policies" / "Maze-v0"
    shutil.copytree(policy_folder, folder)
    (folder / "recipe.json").write_text(json.dumps({"env_args": ["size=5", "slack=4"]}))
    monkeypatch.setattr(policy_module.resources, "files", lambda package: tmp_path)
    return folder


@pytest.mark.parametrize("args", [{"size": 5, "slack": 4, "num_problems": 10}, {"size": 5, "slack": 4}])
def test_the_shipped_policy_of_an_environment(args: dict[str, int], shipped: Path) -> None:
    assert builtin_folder("vpo/Maze-v0", args) == shipped
    assert builtin_folder("vpo_envs:vpo/Maze-v0", args) == shipped
    assert open_policy("builtin", "vpo/Maze-v0", args, "cpu", "auto").source == str(shipped)


def test_an_environment_may_ship_several_policies(shipped: Path) -> None:
    other = shipped.with_name("Maze-v0-7x7")
    shutil.copytree(shipped, other)
    (other / "recipe.json").write_text(json.dumps({"env_args": ["size=7", "slack=6"]}))
    assert builtin_folder("vpo/Maze-v0", {"size": 5, "slack": 4}) == shipped
    assert builtin_folder("vpo/Maze-v0", {"size": 7, "slack": 6, "num_problems": 9}) == other
    with pytest.raises(
        ValueError, match="made for --env-args size=5 slack=4 or size=7 slack=6, not for size=5 slack=6"
    ):
        builtin_folder("vpo/Maze-v0", {"size": 5, "slack": 6})


def test_a_shipped_policy_for_other_arguments_is_refused(shipped: Path) -> None:
    made_for = "made for --env-args size=5 slack=4, not for "
    with pytest.raises(ValueError, match=made_for + "size=9 slack=4; .* --env-args size=9 slack=4"):
        builtin_folder("vpo/Maze-v0", {"size": 9, "slack": 4})
    with pytest.raises(ValueError, match=made_for + "the defaults"):
        builtin_folder("vpo/Maze-v0", {})


def test_an_environment_without_a_shipped_policy(shipped: Path) -> None:
    with pytest.raises(
        ValueError, match=r"no built-in policy for vpo/Other-v0 \(there are: vpo/Maze-v0\).*warm_start.py"
    ):
        builtin_folder("vpo/Other-v0", {})
