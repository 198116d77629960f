"""Every option, as dataclasses: they are the command line (tyro), its help, and what is saved beside a run."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Preset = Literal["auto", "laptop", "paper"]
Dtype = Literal["auto", "float32", "bfloat16"]


@dataclass
class SamplingConfig:
    """How responses are sampled in training."""

    max_tokens: int = 1024
    """Longest response, in tokens."""
    temperature: float = 1.0
    """Softmax temperature; the learner's log-probabilities use the same one."""
    top_p: float = 1.0
    """Nucleus mass. Below 1 needs `--learner.tis-cap None`, because the ratio of the engines is then undefined."""
    rows: int = 512
    """Responses that are generated side by side."""


@dataclass
class LearnerConfig:
    """The policy-gradient step. The defaults are the paper's (arXiv 2605.22817)."""

    lr: float = 1e-6
    """Learning rate of AdamW, constant."""
    betas: tuple[float, float] = (0.9, 0.999)
    """AdamW's decay rates of the two moments."""
    weight_decay: float = 0.01
    """AdamW's decoupled weight decay."""
    grad_clip: float = 1.0
    """Largest global gradient norm."""
    clip_low: float = 0.2
    """PPO: the probability ratio is clipped at 1 - clip_low from below ..."""
    clip_high: float = 0.2
    """... and at 1 + clip_high from above."""
    dual_clip: float = 3.0
    """Bound on the ratio for negative advantages; must exceed 1."""
    kl_coef: float = 1e-3
    """Weight of the KL divergence to the frozen reference in the loss; 0 drops the reference."""
    mini_batch: int = 64
    """Prompts in one optimizer update; the groups of a step are cut into batches of this size."""
    micro_batch: int = 8
    """Rollouts in one forward and backward pass."""
    epochs: int = 1
    """Passes over the rollouts of a step."""
    tis_cap: float | None = 2.0
    """Truncated importance sampling between the generating and the learning engine: largest per-token weight."""
    logprob_chunk: int = 1024
    """Response tokens whose full-vocabulary logits exist at one time."""


@dataclass
class EvaluationConfig:
    """How policies are evaluated."""

    problems: int = 100
    """Test problems."""
    answers: int = 30
    """Answers sampled for a problem: answers / m responses of m answers each."""
    ks: tuple[int, ...] = (1, 3, 10, 30)
    """The k of best@k in the table."""
    temperature: float = 0.7
    """Softmax temperature of the sampled answers."""
    top_p: float | None = None
    """Nucleus mass; default the paper's: 1, but 0.95 for EUREQA and ToolRL."""
    weights: int = 256
    """Random weightings in E_w[best@k], the same ones for every policy."""
    seed: int = 0
    """Seed of the sampled answers and of the weightings."""


@dataclass
class TrainConfig:
    """Train a language model on a text environment with Vector Policy Optimization or a baseline."""

    env: str = "vpo/Maze-v0"
    """Environment id; "module:id" imports a module that registers it."""
    env_args: tuple[str, ...] = ()
    """Arguments of the environment, as name=value."""
    method: str = "vpo"
    """Advantage estimator: vpo, multi_rlvr (sets of answers), grpo (single answers)."""
    method_args: tuple[str, ...] = ()
    """Options of the estimator, as name=value (vpo: num_weights=100 alpha=1.0 sampler=iid or sobol)."""
    model: str = "builtin"
    """Hub id, folder, or "builtin": the environment's own tiny policy."""
    preset: Preset = "auto"
    """Where defaults come from: "paper", "laptop" (two CPU cores, minutes), "auto" = paper with a CUDA device. The
    defaults shown here are the chosen preset's: `--preset paper --help` shows the paper's."""
    steps: int | None = None
    """Optimizer steps; default: enough for `epochs`."""
    epochs: int = 1
    """Passes over the training problems, where `steps` is not given."""
    prompts: int = 128
    """Prompts (groups) in a step."""
    answers_per_prompt: int = 24
    """Answers generated for a prompt in a step, the same for every method."""
    num_answers: int | None = None
    """Answers in one rollout (m); default 3 for methods that work on sets, else 1."""
    prompt_tokens: int = 768
    """Longest prompt, in tokens. Problems of a data set with a longer one are left out (their number is printed); of
    generated problems it is an error."""
    seed: int = 0
    """Seed of the order of the problems, the sampled responses and the random weights."""
    device: str = "auto"
    """"auto", "cpu", "cuda", "cuda:1" ..."""
    dtype: Dtype = "auto"
    """What is computed in; auto = float32 on a CPU, bfloat16 elsewhere. The weights are float32 in any case: a step of
    1e-6 would be lost in bfloat16."""
    threads: int | None = None
    """CPU threads of torch; default torch's own choice."""
    output: str = "runs"
    """Folder of all runs."""
    name: str | None = None
    """Folder of this run in `output`; default environment-method-seed-time."""
    resume: str | None = None
    """Folder of a run to go on with; its saved configuration must agree with this command line."""
    checkpoint_every: int = 25
    """Steps between checkpoints; one is always written at the end and on Ctrl-C."""
    keep_checkpoints: int = 2
    """Checkpoints that are kept, the newest ones."""
    final_evaluation: bool = True
    """Evaluate the first and the last policy when training ends."""
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)


def parse_pairs(pairs: Sequence[str], option: str) -> dict[str, Any]:
    """`name=value` words as a dict; values are Python literals where they are one, else text.

    Raises:
        ValueError: a word that is not a name=value pair.
    """
    parsed: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"{option} takes name=value words, not {pair!r}")
        try:
            parsed[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            parsed[name] = value
    return parsed
