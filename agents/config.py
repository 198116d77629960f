"""Every option, as dataclasses: they are the command line (tyro), its help, and what is saved beside a run."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Preset = Literal["auto", "laptop", "paper"]
Dtype = Literal["auto", "float32", "bfloat16"]
ParamDtype = Literal["float32", "bfloat16"]
Attention = Literal["auto", "eager", "sdpa", "flash_attention_2"]
Backend = Literal["auto", "transformers", "vllm"]
PromptWeights = Literal["auto", "none", "reference", "random"]
TrackerName = Literal["tensorboard", "wandb", "trackio"]


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
class EngineConfig:
    """The vLLM engine; the transformers backend has no options and refuses these."""

    memory_share: float | None = None
    """Share of the device's memory for weights and key-value cache. Default 0.5 with CUDA; on a CPU `cache_gib`."""
    cache_gib: float | None = None
    """Key-value cache in GiB, instead of `memory_share`. Default 1 on a CPU."""
    max_model_len: int | None = None
    """Longest prompt and response together, in tokens; default the longest that the other options allow."""
    dtype: Dtype = "auto"
    """What the engine computes in; auto = as the learner."""
    eager: bool | None = None
    """No compilation and no CUDA graphs. Default: on a CPU, where compiling takes longer than it saves."""
    prefix_caching: bool = True
    """Prompts that begin alike share their key-value cache."""
    multi_process: bool | None = None
    """The engine runs in a process of its own. Default: where training runs in several processes."""
    threads: int = 1
    """CPU threads of the engine."""
    sleep: bool | None = None
    """The engine gives its memory to the learner while that works. Default: with CUDA, the only place where it can."""


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
    """Most rollouts in one forward and backward pass. It is halved once if the memory does not suffice."""
    micro_batch_tokens: int | None = None
    """Most tokens in one pass, prompts and padding included; a rollout that is longer has a pass of its own."""
    epochs: int = 1
    """Passes over the rollouts of a step."""
    tis_cap: float | None = 2.0
    """Truncated importance sampling between the generating and the learning engine: largest per-token weight."""
    logprob_chunk: int = 1024
    """Response tokens whose full-vocabulary logits exist at one time."""
    share_prompts: bool | None = None
    """Compute a prompt once for its rollouts in a pass, whose tokens then attend to its keys and values. Default: on a
    CPU where the model allows it and that leaves at most 85% of a step's tokens. With CUDA it must be asked for: there
    the attention of the responses needs a mask, which the fastest kernels do not take, and it has not been measured."""
    gradient_checkpointing: bool = False
    """Keep only the layers' inputs of a pass and compute the rest again: less memory, about a third more time."""
    param_dtype: ParamDtype = "float32"
    """The weights. bfloat16 keeps float32 master weights beside them, so that an update of 1e-6 is not lost, and makes
    the passes faster (no casts) and the reference half the size; it needs `--dtype bfloat16`."""
    attention: Attention = "auto"
    """Attention kernel; auto = flash_attention_2 where it is installed and a CUDA device computes in bfloat16, else
    the model's default (sdpa for most)."""
    offload_reference: bool = False
    """Keep the frozen reference in the CPU's memory except while its log-probabilities are computed."""
    max_skipped: int = 3
    """Updates in a row with a loss or a gradient that is not finite, each of which is skipped, before training stops
    (with a checkpoint)."""


@dataclass
class LoraConfig:
    """Train a low-rank adapter (arXiv 2106.09685) and leave the weights frozen; they are the KL reference as well."""

    rank: int = 0
    """Rank of the adapter; 0 trains all weights."""
    alpha: float = 32.0
    """The adapter is scaled by alpha / rank."""
    targets: tuple[str, ...] = ("all-linear",)
    """Names of the modules that are adapted, such as q_proj v_proj; all-linear = all but the output head."""


@dataclass
class EvaluationConfig:
    """How policies are evaluated."""

    problems: int = 100
    """Test problems."""
    first: int = 0
    """Index of the first of them. Settings that are chosen by an evaluation should be chosen on problems that the final
    evaluation does not use."""
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
    prompt_weights: PromptWeights = "auto"
    """Weights of the objectives that the prompts ask for: "none", the "reference" weights, or "random" ones, drawn anew
    for each response, which is how a policy that heeds them gives answers that vary. auto = random for a policy that
    was trained with goal_conditioned, and in such a run's own evaluations; none for all others."""
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
    """Advantage estimator. Of sets of answers: vpo, vpo_shapley, best_of_set, multi_rlvr, shape_grpo; of single
    answers: grpo, dr_grpo, random_weight, goal_conditioned, gdpo, maxrl, max_at_k, pass_at_k, maxpo, poly.
    docs/methods.md explains them."""
    method_args: tuple[str, ...] = ()
    """Options of the estimator, as name=value. vpo, vpo_shapley: num_weights=100 alpha=1.0 sampler=iid or sobol;
    random_weight: alpha=1.0; max_at_k, pass_at_k, maxpo, poly: k=4, at most the rollouts of a prompt (less one, but for
    pass_at_k); the others have none."""
    prompt_alpha: float = 1.0
    """goal_conditioned: the weights that a prompt asks for are Dirichlet with this concentration; 1 is uniform on the
    simplex, smaller is nearer its corners."""
    model: str = "builtin"
    """Hub id, folder, or "builtin": the environment's own tiny policy."""
    preset: Preset = "auto"
    """Where defaults come from: "paper", "laptop" (two CPU cores, minutes), "auto" = paper with a CUDA device. The
    defaults shown here are the chosen preset's: `--preset paper --help` shows the paper's."""
    steps: int | None = None
    """Training steps; default: enough for `epochs`."""
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
    backend: Backend = "auto"
    """What generates: auto = vllm where it is installed and the model is on a CUDA device, else transformers."""
    dtype: Dtype = "auto"
    """What is computed in; auto = float32 on a CPU, bfloat16 elsewhere. What the weights are kept in is
    `--learner.param-dtype`."""
    threads: int | None = None
    """CPU threads of torch; default torch's own choice."""
    output: str = "runs"
    """Folder of all runs."""
    name: str | None = None
    """Folder of this run in `output`; default environment-method-seed-time."""
    resume: str | None = None
    """Folder of a run to go on with; its saved configuration must agree with this command line."""
    checkpoint_every: int = 25
    """Steps between checkpoints; one is always written at the end, on Ctrl-C and on SIGTERM."""
    keep_checkpoints: int = 2
    """Checkpoints that are kept, the newest ones."""
    final_evaluation: bool = True
    """Evaluate the first and the last policy when training ends."""
    evaluate_every: int | None = None
    """Steps between evaluations of the policy on a few test problems, from step 0 on; they appear as `evaluation/...`
    in the metrics. None: no evaluation during training."""
    evaluate_problems: int = 20
    """Test problems of `--evaluate-every`; all else is as in `--evaluation`."""
    trackers: tuple[TrackerName, ...] = ("tensorboard",)
    """What shows the metrics and samples beside the run's own files: tensorboard, wandb, trackio."""
    project: str = "vpo"
    """Project of the run in W&B and trackio."""
    samples_every: int | None = 25
    """Steps between rollouts that are shown in `samples.jsonl` and the trackers, from step 0 on; None shows none."""
    samples_prompts: int = 1
    """Prompts of such a step whose rollouts are shown."""
    dry_run: bool = False
    """Print the configuration, the number of steps and an estimate of the memory, and stop. Nothing is downloaded,
    trained or written."""
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    lora: LoraConfig = field(default_factory=LoraConfig)
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
