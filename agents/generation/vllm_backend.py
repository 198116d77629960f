"""Sampling with vLLM, with the weights of the model that is trained.

The engine starts with dummy weights, from the model's configuration alone; `sync` fills them. What is served is always
what was synchronised last.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import PreTrainedModel

from agents.config import EngineConfig
from agents.config_checks import VLLM_HOTTEST
from agents.generation.base import Completion, EngineError, Generator, Sampling
from agents.generation.vllm_engine import build_engine, kept_random_state, threads
from agents.generation.vllm_watch import ProcessWatch
from agents.lora import merged_parameters

SHARED_MEMORY = Path("/dev/shm")


class VllmGenerator(Generator):
    """Generates with vLLM's engine. Call `close` to free its memory."""

    def __init__(
        self,
        model: PreTrainedModel,
        end_ids: Sequence[int],
        config: EngineConfig,
        context: int,
        rows: int = 512,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Build an engine for this model and give it the weights.

        Args:
            model: the model that is trained; its weights are copied at each `sync`. LoRA adapters are merged.
            end_ids: tokens that end a response.
            config: options of the engine.
            context: longest prompt and response together, in tokens, unless `config` says.
            rows: responses that are generated side by side.
            dtype: what the engine computes in, unless `config` says.

        Raises:
            ValueError: vLLM does not know the model, or refuses an option.
        """
        self.end_ids = list(end_ids)
        self.config = config
        self.max_model_len = context if config.max_model_len is None else config.max_model_len
        dtype = dtype if config.dtype == "auto" else getattr(torch, config.dtype)
        self._sleeps = model.device.type == "cuda" and config.sleep is not False
        self._asleep = False
        self._failure: str | None = None
        self._names = count()
        self._engine: Any
        self._engine, self._own_process = build_engine(model, config, self.max_model_len, rows, dtype)
        self._watch = None
        if self._own_process:
            self._watch = ProcessWatch(self._engine.engine_core)
            self._engine.collective_rpc("die_with", args=(os.getpid(),))
        self.sync(model)

    def stream(
        self, prompts: Sequence[Sequence[int]], n: int, sampling: Sampling, seeds: Sequence[int]
    ) -> Iterator[tuple[int, list[Completion]]]:
        """n continuations of each prompt, as prompts get done (see `Generator`).

        Raises:
            ValueError: a prompt that leaves no room for the response, or a temperature above 2.
            EngineError: the engine failed.
        """
        for i, prompt in enumerate(prompts):
            if len(prompt) + sampling.max_tokens > self.max_model_len:
                raise ValueError(
                    f"prompt {i} has {len(prompt)} tokens and responses up to {sampling.max_tokens}, the engine was "
                    f"built for {self.max_model_len} together (--engine.max-model-len)"
                )
        if self._asleep:
            raise ValueError("the engine gave its memory away (`rest`): `sync` before generating")
        parameters = [self._parameters(n, sampling, seed) for seed in seeds]
        waiting: dict[str, int] = {}
        with self._working("generating"):
            inputs = self._engine.renderer.render_cmpl([{"prompt_token_ids": list(prompt)} for prompt in prompts])
            for i, (tokens, how) in enumerate(zip(inputs, parameters, strict=True)):
                name = str(next(self._names))
                self._engine.add_request(name, tokens, how)
                waiting[name] = i
        try:
            while waiting:
                with self._working("generating"):
                    done: list[Any] = []
                    while not done:
                        done = [output for output in self._engine.step() if output.finished]
                for output in done:
                    yield waiting.pop(output.request_id), [_completion(child) for child in output.outputs]
        finally:
            if waiting and self._failure is None:  # whoever asked has stopped listening
                with self._working("stopping"):
                    self._engine.abort_request(list(waiting))

    def _parameters(self, n: int, sampling: Sampling, seed: int) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        if sampling.temperature > VLLM_HOTTEST:
            raise ValueError(f"vLLM samples at temperatures up to {VLLM_HOTTEST:g}, not {sampling.temperature}")
        return SamplingParams(
            n=n,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            max_tokens=sampling.max_tokens,
            stop_token_ids=self.end_ids,
            ignore_eos=True,  # only `end_ids` end a response
            logprobs=0,  # the sampled token's only
            detokenize=False,
            seed=seed,  # child j of the prompt takes seed + j
            output_kind=RequestOutputKind.FINAL_ONLY,
        )

    def sync(self, model: PreTrainedModel) -> None:
        """Copy the weights into the engine, and forget what was computed with the old ones.

        Raises:
            ValueError: an adapter that is not plain LoRA.
            EngineError: the engine failed, or has other parameters.
        """
        weights = [(name, weight.detach()) for name, weight in merged_parameters(model)]
        with self._working("taking new weights"):
            if self._asleep:
                self._engine.wake_up()
                self._asleep = False
            if self._own_process:
                with tempfile.TemporaryDirectory(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as folder:
                    path = str(Path(folder) / "weights.safetensors")
                    save_file({name: weight.contiguous() for name, weight in weights}, path)
                    self._engine.collective_rpc("take_policy_weights", args=(path,))
            else:
                self._engine.collective_rpc("take_policy_weights", args=(weights,))
            self._engine.reset_prefix_cache()

    def rest(self) -> None:
        """Give the memory of weights and cache to the learner, where the engine can (`EngineConfig.sleep`)."""
        if self._sleeps and not self._asleep:
            with self._working("going to sleep"):
                self._engine.sleep(level=2)  # the weights are synchronised before they are needed again
            self._asleep = True

    def close(self) -> None:
        """Stop the engine and free its memory."""
        if self._engine is not None:
            if self._watch is not None:
                self._watch.stop()
            self._engine.engine_core.shutdown()
            self._engine = None
            self._failure = "closed"

    @contextmanager
    def _working(self, doing: str) -> Iterator[None]:
        """The engine works: random state and threads are its own, and whatever it raises is an `EngineError`."""
        if self._failure is not None:
            raise EngineError(f"the vLLM engine cannot be used any more: {self._failure}")
        try:
            with kept_random_state(), threads(self.config.threads):
                yield
        except Exception as error:
            self._failure = f"it failed while {doing}: {type(error).__name__}: {error}"
            raise EngineError(f"the vLLM engine failed while {doing}: {type(error).__name__}: {error}") from error


def _completion(child: Any) -> Completion:
    ids = list(child.token_ids)
    logprobs = [entry[token].logprob for token, entry in zip(ids, child.logprobs, strict=True)]
    return Completion(ids, logprobs, "stop" if child.finish_reason == "stop" else "length")
