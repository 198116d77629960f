"""A policy: a causal language model and its tokenizer, from the hub, from a folder, or built in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import is_flash_attn_2_available

from agents.config import Attention, LoraConfig, ParamDtype, parse_pairs
from agents.lora import add_adapter, has_adapter, is_adapter, save_adapter
from vpo_envs.task import Message

MODEL_FILES = ("config.json", "adapter_config.json")


@dataclass
class Policy:
    """A model with its tokenizer, and where it came from (a hub id or a folder)."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    source: str
    dtype: torch.dtype = torch.float32
    """What is computed in, by autocast where the weights are float32."""

    @property
    def context(self) -> int:
        """Longest prompt and response together, in tokens."""
        return int(getattr(self.model.config, "max_position_embeddings", None) or self.tokenizer.model_max_length)

    @property
    def end_ids(self) -> list[int]:
        """The tokens that end a response."""
        ids = self.model.generation_config.eos_token_id if self.model.generation_config is not None else None
        ids = ids if ids is not None else self.tokenizer.eos_token_id
        return [ids] if isinstance(ids, int) else list(ids or [])

    def prompt_ids(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a prompt, in the chat template with its thinking mode off; as plain text without a template."""
        if self.tokenizer.chat_template is None:
            text = "\n\n".join(m["content"] for m in messages) + "\n\n"
            return list(self.tokenizer(text)["input_ids"])
        encoded: Any = self.tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=True, enable_thinking=False, return_dict=True
        )
        return list(encoded["input_ids"])

    def encode_prompts(self, prompts: Sequence[Sequence[Message]], max_tokens: int, room: int) -> list[list[int]]:
        """Token ids of many prompts; prompts with equal messages are encoded once.

        Raises:
            ValueError: a prompt longer than `max_tokens`, or one that leaves less than `room` tokens of the context.
        """
        cache: dict[str, list[int]] = {}
        encoded = []
        for i, messages in enumerate(prompts):
            key = json.dumps(messages)
            if key not in cache:
                cache[key] = self.prompt_ids(messages)
                if len(cache[key]) > max_tokens:
                    raise ValueError(
                        f"prompt {i} has {len(cache[key])} tokens, --prompt-tokens allows {max_tokens}; raise it, or "
                        "use an easier environment (--env-args)"
                    )
                if len(cache[key]) + room > self.context:
                    raise ValueError(
                        f"prompt {i} has {len(cache[key])} tokens and responses up to {room}, the context of "
                        f"{self.source} is {self.context}; lower --sampling.max-tokens or use a shorter prompt"
                    )
            encoded.append(cache[key])
        return encoded

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a response, without special tokens."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True))

    def add_lora(self, config: LoraConfig, seed: int) -> None:
        """Train an adapter of this configuration from now on; rank 0 changes nothing.

        Raises:
            ValueError: targets that the model lacks, or a model that came from an adapter's folder.
        """
        if config.rank == 0:
            return
        if is_adapter(Path(self.source)):
            raise ValueError(
                f"--lora.rank: {self.source} is an adapter itself, and an adapter cannot name it as its base; merge it "
                "into an ordinary model first (its README.md says how)"
            )
        base = str(Path(self.source).resolve()) if Path(self.source).is_dir() else self.source
        add_adapter(self.model, config, seed, base)

    def save(self, folder: str | Path) -> None:
        """Write an ordinary transformers folder; of a model with an adapter, the adapter's folder as peft has it."""
        if has_adapter(self.model):
            save_adapter(self.model, Path(folder))
        else:
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def builtin_folder(env_id: str, env_args: dict[str, Any]) -> Path:
    """Folder of the shipped policy of an environment that was made for these arguments.

    An environment's policies lie in `policies/<name>` and `policies/<name>-<suffix>`, each with the `recipe.json` that
    says what it was made for.

    Raises:
        ValueError: there is none, or none was made for these arguments.
    """
    name = env_id.rpartition(":")[2].removeprefix("vpo/")
    root = Path(str(resources.files("agents"))) / "policies"
    command = f"python agents/warm_start.py --env {env_id}"
    shipped: dict[Path, dict[str, Any]] = {
        recipe.parent: parse_pairs(json.loads(recipe.read_text())["env_args"], "recipe.json")
        for recipe in sorted([root / name / "recipe.json", *root.glob(f"{name}-*/recipe.json")])
        if recipe.is_file()
    }
    if not shipped:
        have = sorted(f"vpo/{p.parent.relative_to(root)}" for p in root.rglob("recipe.json"))
        raise ValueError(
            f"no built-in policy for {env_id} (there are: {', '.join(have) or 'none'}); name a model with --model, or, "
            f"for a task with demonstrations, make one with: {command}"
        )
    for folder, made_for in shipped.items():
        if all(env_args.get(argument) == value for argument, value in made_for.items()):
            return folder
    needs = " or ".join(_pairs(made_for) for made_for in shipped.values())
    has = _pairs(env_args)
    raise ValueError(
        f"the built-in policy of {env_id} was made for --env-args {needs}, not for {has or 'the defaults'}; use "
        f"these arguments, another --model, or make one with: {command}" + (f" --env-args {has}" if has else "")
    )


def _pairs(arguments: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in arguments.items())


def load_policy(
    source: str,
    device: torch.device,
    dtype: torch.dtype,
    param_dtype: torch.dtype = torch.float32,
    attention: Attention = "auto",
) -> Policy:
    """Load a model and tokenizer from a hub id or a folder; an adapter is merged into its base.

    The weights are `param_dtype`, `dtype` is what is computed in.

    Raises:
        ValueError: the folder does not exist, or holds no model or no tokenizer; the hub does not answer; or the model
            lacks this attention kernel.
    """
    folder = Path(source)
    looks_local = folder.exists() or source.startswith((".", "/", "~", "runs")) or source.count("/") > 1
    if looks_local:
        if not folder.is_dir():
            raise ValueError(f"model folder {source} does not exist")
        if not (folder / "config.json").is_file() and not is_adapter(folder):
            inside = sorted(p.parent.name for name in MODEL_FILES for p in folder.glob(f"*/{name}"))
            hint = f"; did you mean {folder / inside[0]}?" if inside else ""
            raise ValueError(f"{source} holds no model (config.json is missing){hint}")
        if not any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer_config.json", "vocab.json")):
            raise ValueError(f"{source} holds no tokenizer; save the model's tokenizer into the same folder")
    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
        model: Any = _load_model(source, param_dtype, attention)
    except OSError as error:
        raise ValueError(f"cannot load the model {source!r}: {str(error).splitlines()[0]}") from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model = model.to(device).eval()
    if attention == "auto" and device.type == "cuda" and dtype == torch.bfloat16 and is_flash_attn_2_available():
        with suppress(ValueError, ImportError):  # a model without it keeps its default
            model.set_attn_implementation("flash_attention_2")
    return Policy(model, tokenizer, source, dtype)


def _load_model(source: str, param_dtype: torch.dtype, attention: Attention) -> PreTrainedModel:
    """The model of a hub id or folder, on the CPU."""
    folder = Path(source)
    chosen: dict[str, Any] = {} if attention == "auto" else {"attn_implementation": attention}
    adapted = is_adapter(folder)
    base = source
    if adapted:
        from peft import PeftConfig, PeftModel  # takes a second to import

        base = str(PeftConfig.from_pretrained(source).base_model_name_or_path)
    if adapted and Path(base).is_absolute() and not Path(base).is_dir():
        raise ValueError(f"{source} is an adapter of {base}, which does not exist")
    # An adapter is merged in float32: rounded to bfloat16, small changes would be lost one by one.
    first = torch.float32 if adapted else param_dtype
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(base, dtype=first, **chosen)
    except (ValueError, ImportError) as error:
        if not chosen:
            raise
        raise ValueError(f"--learner.attention {attention}: {str(error).splitlines()[0]}") from error
    if adapted:
        model = PeftModel.from_pretrained(model, source).merge_and_unload().to(param_dtype)
    loaded: PreTrainedModel = model
    return loaded


def open_policy(
    source: str,
    env_id: str,
    env_args: dict[str, Any],
    device: str,
    dtype: str,
    param_dtype: ParamDtype = "float32",
    attention: Attention = "auto",
) -> Policy:
    """Load the policy that the options name; "builtin" is the environment's own (`builtin_folder`).

    Raises:
        ValueError: see `load_policy` and `builtin_folder`; or a device that is not there, or weights in a smaller type
            than what is computed in.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(device)
        torch.zeros(1, device=place).item()
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"--device {device}: {str(error).splitlines()[0]}") from error
    if dtype == "auto":
        dtype = "float32" if place.type == "cpu" else "bfloat16"
    if param_dtype == "bfloat16" and dtype != "bfloat16":
        raise ValueError(f"--learner.param-dtype bfloat16 needs --dtype bfloat16, not {dtype}")
    folder = str(builtin_folder(env_id, env_args)) if source == "builtin" else source
    return load_policy(folder, place, getattr(torch, dtype), getattr(torch, param_dtype), attention)
