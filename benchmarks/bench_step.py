"""One training step of the learner beside one of TRL's GRPOTrainer: same model, tokens, advantages and loss terms.

python benchmarks/bench_step.py [--model agents/policies/Maze-v0] [--steps 7] [--json FILE]
python benchmarks/bench_step.py --model FOLDER --prompts 4 --group 4 --prompt-tokens 300 --response-tokens 64

Timed on both sides: padding, the reference's forward passes, the policy's forward and backward passes over all
micro-batches, gradient clipping, the optimizer's step. Not timed: generation, rewards, logging, checkpoints. TRL runs
its own `train()` loop, in which only `_generate_and_score_completions` is replaced: it hands over the given tokens and
advantages, and gets the reference's log-probabilities as the original does. The steps of the two alternate in one
process; in the first one the gradients after clipping are compared.

Lengths are drawn between half of the longest and the longest: by default those of responses (`--vary responses`), as
for mazes, whose prompts are alike. With `--vary both` the gradients of a model with absolute positions (the built-in
policies) differ, because TRL pads prompts on the left and leaves the positions to the model, which counts the padding.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agents.config import LearnerConfig
from agents.generation import Completion
from agents.learner import Learner
from agents.rollout import Rollouts

ROOT = Path(__file__).resolve().parents[1]

Gradients = dict[str, torch.Tensor]


def make_rollouts(model: PreTrainedModel, options: argparse.Namespace) -> tuple[Rollouts, torch.Tensor]:
    """Random tokens with the log-probabilities that the policy gives them, and advantages (B, G) of both signs."""
    rng, vocabulary = Random(0), model.config.vocab_size

    def tokens(longest: int, vary: bool) -> list[int]:
        length = rng.randint((longest + 1) // 2, longest) if vary else longest
        return [rng.randrange(10, vocabulary) for _ in range(length)]

    prompts = [tokens(options.prompt_tokens, options.vary == "both") for _ in range(options.prompts)]
    completions = []
    for prompt in prompts:
        group = []
        for response in (tokens(options.response_tokens, options.vary != "nothing") for _ in range(options.group)):
            with torch.no_grad():
                logits = model(torch.tensor([[*prompt, *response]])).logits[0, len(prompt) - 1 : -1]
            logprobs = logits.log_softmax(-1)[range(len(response)), response].tolist()
            group.append(Completion(response, logprobs, "stop"))
        completions.append(group)
    shape = (options.prompts, options.group)
    rewards, answered = torch.zeros(*shape, 1, 1), torch.ones(*shape, 1, dtype=torch.bool)
    advantages = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    return Rollouts(prompts, completions, [], rewards, answered, None), advantages


# ---- TRL ------------------------------------------------------------------------------------------------------------


def trl_trainer(
    folder: str, model: PreTrainedModel, rollouts: Rollouts, advantages: torch.Tensor, options: argparse.Namespace
) -> Any:
    """A GRPOTrainer whose batches are the given rollouts. Raises ImportError without TRL."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer
    from trl.trainer.utils import pad

    tokenizer = AutoTokenizer.from_pretrained(folder)
    where = [(b, g) for b in range(options.prompts) for g in range(options.group)]
    prompts = [torch.tensor(rollouts.prompts[b]) for b, _ in where]
    responses = [torch.tensor(rollouts.completions[b][g].token_ids) for b, g in where]

    class Given(GRPOTrainer):
        def _generate_and_score_completions(self, inputs: Any) -> dict[str, torch.Tensor]:
            batch = {
                "prompt_ids": pad(prompts, tokenizer.pad_token_id, padding_side="left"),
                "prompt_mask": pad([torch.ones_like(p) for p in prompts], 0, padding_side="left"),
                "completion_ids": pad(responses, tokenizer.pad_token_id, padding_side="right"),
                "completion_mask": pad([torch.ones_like(r) for r in responses], 0, padding_side="right"),
                "advantages": torch.stack([advantages[b, g] for b, g in where]),
            }
            batch["num_items_in_batch"] = batch["completion_mask"].sum()
            with torch.no_grad():
                batch["ref_per_token_logps"], _, _ = self._get_per_token_logps_and_entropies(
                    self.ref_model,
                    torch.cat([batch["prompt_ids"], batch["completion_ids"]], 1),
                    torch.cat([batch["prompt_mask"], batch["completion_mask"]], 1),
                    batch["completion_ids"].shape[1],
                    batch_size=self.args.per_device_train_batch_size,
                )
            return batch

    config = LearnerConfig()
    arguments = GRPOConfig(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=options.micro_batch,
        gradient_accumulation_steps=len(where) // options.micro_batch,
        num_generations=options.group,
        max_completion_length=options.response_tokens,
        max_steps=options.steps + 1,
        learning_rate=config.lr,
        lr_scheduler_type="constant",
        weight_decay=config.weight_decay,
        max_grad_norm=config.grad_clip,
        beta=config.kl_coef,
        epsilon=config.clip_low,
        delta=config.dual_clip,
        loss_type="dapo",  # the mean over all tokens
        temperature=1.0,
        bf16=False,
        gradient_checkpointing=False,
        use_cpu=True,
        logging_strategy="no",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    rows = Dataset.from_dict({"prompt": ["-"] * options.prompts * (options.steps + 2)})
    return Given(model, reward_funcs=lambda **_: [0.0], args=arguments, train_dataset=rows, processing_class=tokenizer)


def alternate(trainer: Any, learner: Learner, step: Callable[[], None]) -> dict[str, Any]:
    """Run TRL's training loop with a step of ours after each of its own; seconds of both, but for the first step."""
    from transformers import TrainerCallback

    seconds: dict[str, list[float]] = {"ours": [], "trl": [], "ours_cpu": [], "trl_cpu": []}
    gradients: dict[str, Gradients] = {}

    class Clock(TrainerCallback):
        def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
            self.began, self.cpu = time.perf_counter(), time.process_time()

        def on_pre_optimizer_step(self, *args: Any, model: PreTrainedModel, **kwargs: Any) -> None:
            gradients.setdefault("trl", gradients_of(model))

        def on_step_end(self, *args: Any, **kwargs: Any) -> None:
            seconds["trl"].append(time.perf_counter() - self.began)
            seconds["trl_cpu"].append(time.process_time() - self.cpu)
            began, cpu = time.perf_counter(), time.process_time()
            step()
            seconds["ours"].append(time.perf_counter() - began)
            seconds["ours_cpu"].append(time.process_time() - cpu)

    hook = learner.optimizer.register_step_pre_hook(
        lambda *_: void(gradients.setdefault("ours", gradients_of(learner.model)))
    )
    trainer.add_callback(Clock())
    trainer.train()
    hook.remove()
    return {f"{name}_s": statistics.median(values[1:]) for name, values in seconds.items()} | {
        "relative_difference_of_gradients": difference(gradients["ours"], gradients["trl"]),
        "all_seconds": seconds,
    }


def gradients_of(model: PreTrainedModel) -> Gradients:
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def difference(ours: Gradients, theirs: Gradients) -> float:
    """Norm of the difference over the norm of theirs."""
    off = sum(float((gradient - theirs[name]).square().sum()) for name, gradient in ours.items())
    return (off / sum(float(gradient.square().sum()) for gradient in theirs.values())) ** 0.5


# ---- where the time goes --------------------------------------------------------------------------------------------


@contextmanager
def timed_parts(learner: Learner, seconds: dict[str, float]) -> Iterator[None]:
    """Add up the seconds of the parts of steps inside: timers around calls, so that nothing slows the parts down."""
    began: dict[str, float] = {}

    def start(name: str) -> Callable[..., None]:
        return lambda *_: began.__setitem__(name, time.perf_counter())

    def stop(name: str) -> Callable[..., None]:
        return lambda *_: seconds.__setitem__(name, seconds[name] + time.perf_counter() - began[name])

    def around(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            start(name)()
            result = function(*args, **kwargs)
            stop(name)()
            return result

        return timed

    handles = []
    for name, model in (("policy", learner.model), ("reference", learner.reference)):
        assert model is not None
        for part, module in (("forward", model.base_model), ("head", model.get_output_embeddings())):
            handles.append(module.register_forward_pre_hook(start(f"{name} {part}")))
            handles.append(module.register_forward_hook(stop(f"{name} {part}")))
    handles.append(learner.optimizer.register_step_pre_hook(start("optimizer")))
    handles.append(learner.optimizer.register_step_post_hook(stop("optimizer")))
    backward, clip = torch.Tensor.backward, torch.nn.utils.clip_grad_norm_
    torch.Tensor.backward = around("backward", backward)  # type: ignore[assignment,method-assign]
    torch.nn.utils.clip_grad_norm_ = around("gradient norm", clip)
    try:
        yield
    finally:
        torch.Tensor.backward, torch.nn.utils.clip_grad_norm_ = backward, clip  # type: ignore[method-assign]
        for handle in handles:
            handle.remove()


def profile(learner: Learner, step: Callable[[], None], steps: int) -> dict[str, float]:
    """Seconds of each part of one step, on average; "rest" is padding, the loss and the metrics."""
    seconds: dict[str, float] = defaultdict(float)
    began = time.perf_counter()
    with timed_parts(learner, seconds):
        for _ in range(steps):
            step()
    total = time.perf_counter() - began
    seconds["rest"] = total - sum(seconds.values())
    return {name: value / steps for name, value in sorted(seconds.items(), key=lambda item: -item[1])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=str(ROOT / "agents" / "policies" / "Maze-v0"), help="a transformers folder")
    parser.add_argument("--prompts", type=int, default=16)
    parser.add_argument("--group", type=int, default=8, help="responses to a prompt")
    parser.add_argument("--micro-batch", type=int, help="rows of one forward pass; default 32, or all if fewer")
    parser.add_argument("--prompt-tokens", type=int, default=130, help="longest prompt")
    parser.add_argument("--response-tokens", type=int, default=112, help="longest response")
    parser.add_argument("--vary", choices=("nothing", "responses", "both"), default="responses", help="lengths")
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    options.micro_batch = options.micro_batch or min(32, options.prompts * options.group)
    if options.prompts * options.group % options.micro_batch:
        parser.error("--micro-batch must divide the number of responses, because TRL's batches are equally large")
    torch.set_num_threads(options.threads)

    model, theirs = (AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32) for _ in range(2))
    rollouts, advantages = make_rollouts(model, options)
    config = LearnerConfig(mini_batch=options.prompts, micro_batch=options.micro_batch)
    learner = Learner(model, config, temperature=1.0)

    def step() -> None:
        learner.step(rollouts, advantages)

    figures: dict[str, Any] = {}
    try:
        trainer = trl_trainer(options.model, theirs, rollouts, advantages, options)
    except ImportError as error:
        print(f"no comparison: {error}; install TRL with python -m pip install --no-deps trl==1.16.0")
        step()
    else:
        figures = alternate(trainer, learner, step)
        figures["trl_over_ours"] = figures["trl_s"] / figures["ours_s"]
        figures["trl_over_ours_cpu"] = figures["trl_cpu_s"] / figures["ours_cpu_s"]
        print(
            f"ours {figures['ours_s']:.2f} s, TRL {figures['trl_s']:.2f} s a step (medians of {options.steps}): "
            f"TRL takes {figures['trl_over_ours']:.2f} times as long, {figures['trl_over_ours_cpu']:.2f} times in CPU "
            "time, which other programs disturb less; the gradients of the first step differ by "
            f"{figures['relative_difference_of_gradients']:.1e} of their norm"
        )
    figures["parts_s"] = profile(learner, step, max(1, options.steps // 3))
    figures["options"] = {name: str(value) for name, value in vars(options).items() if name != "json"}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    total = sum(figures["parts_s"].values())
    for name, value in figures["parts_s"].items():
        print(f"  {name:18} {value:7.3f} s  {value / total:6.1%}")


def void(result: object) -> None:
    """Drop a result: a hook returns nothing."""


if __name__ == "__main__":
    main()
