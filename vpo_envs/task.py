"""What a task must say. Nothing here knows about Gymnasium, language models or files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from vpo_envs import answers as _answers

Split = Literal["train", "test"]
Message = dict[str, str]  # {"role": "system" | "user" | "assistant", "content": text}
ProblemT = TypeVar("ProblemT")


@dataclass(frozen=True)
class Objective:
    """One component of the reward vector, in [0, 1], higher is better."""

    name: str
    description: str


class Task(ABC, Generic[ProblemT]):
    """A set of problems, how they are asked, and how an answer is scored.

    A task is pure and picklable: the same arguments give the same problems, prompts and scores in every process.
    Subclasses set the class attributes below and implement the abstract methods; everything else has a default.

    The unit that is scored is an *answer*: the part of a response that counts, as text. With one answer per response
    `extract` finds it; with m answers it is the inside of a numbered tag (see `vpo_envs.answers`).
    """

    objectives: ClassVar[tuple[Objective, ...]]
    """The components of the reward vector, in order."""
    answer_tag: ClassVar[str] = "response"
    """Name of the numbered tags when several answers are asked for: `<response_1>` ..."""
    render_modes: ClassVar[tuple[str, ...]] = ("ansi",)
    answer_details: ClassVar[tuple[str, ...]] = ()
    """What `score_details` tells about an answer beside its reward; `step` puts it into `info` under these names."""

    def __init__(self, split: Split = "train", data: str | None = None) -> None:
        if split not in ("train", "test"):
            raise ValueError(f"{type(self).__name__}: split must be 'train' or 'test', not {split!r}")
        self.split: Split = split
        self.data = data

    # ---- the problems -------------------------------------------------------------------------------------------

    @abstractmethod
    def __len__(self) -> int:
        """Number of problems in this split."""

    @abstractmethod
    def __getitem__(self, index: int) -> ProblemT:
        """Problem `index` of this split, 0 <= index < len(self). Raises IndexError outside."""

    # ---- asking -------------------------------------------------------------------------------------------------

    @abstractmethod
    def messages(
        self, problem: ProblemT, num_answers: int = 1, weights: Sequence[float] | None = None
    ) -> list[Message]:
        """The chat messages that ask for `num_answers` answers, never containing the solution.

        `weights` (k,), if given, are written into the prompt (`vpo_envs.answers.describe_weights`).
        """

    # ---- scoring ------------------------------------------------------------------------------------------------

    @abstractmethod
    def score(self, problem: ProblemT, answer: str) -> NDArray[np.float32]:
        """Reward vector float32 (k,) of one answer. Any text has a score; nothing raises."""

    def score_batch(self, problems: Sequence[ProblemT], answers: Sequence[str]) -> NDArray[np.float32]:
        """Reward vectors float32 (n, k) of n answers, each to its own problem. Override where it can be faster."""
        if not answers:
            return np.zeros((0, self.reward_dim), np.float32)
        rows = [np.asarray(self.score(p, a), np.float32) for p, a in zip(problems, answers, strict=True)]
        for i, row in enumerate(rows):
            if row.shape != (self.reward_dim,):
                raise ValueError(
                    f"{type(self).__name__}.score: the reward of answer {i} of the batch needs shape "
                    f"({self.reward_dim},), not {row.shape}"
                )
        return np.stack(rows)

    def score_details(
        self, problems: Sequence[ProblemT], answers: Sequence[str]
    ) -> tuple[NDArray[np.float32], list[dict[str, Any]]]:
        """As `score_batch`, and for each answer a value for each name in `answer_details`. Override both together."""
        return self.score_batch(problems, answers), [{} for _ in answers]

    def extract(self, response: str) -> str | None:
        """The answer in a response that was asked for one answer, or None.

        Default: the last `<answer>` element outside the reasoning (`vpo_envs.answers.without_reasoning`).
        """
        return _answers.last_element(_answers.without_reasoning(response), "answer")

    def wrap(self, answer: str) -> str:
        """The inverse of `extract`: a response whose answer is `answer`."""
        return f"<answer>{answer}</answer>"

    def is_answer(self, answer: str) -> bool:
        """Whether the inside of a numbered tag is an answer at all, however bad. Default: yes, whatever it is."""
        return True

    def normalise(self, answer: str) -> Hashable:
        """Answers with equal normal forms are the same answer. Default: letters without case, white space folded."""
        return " ".join(answer.split()).casefold()

    def demonstration(self, problem: ProblemT, rng: Random) -> str:
        """A competent, not optimal, answer. Only used to warm-start the built-in policy and in tests."""
        raise NotImplementedError(f"{type(self).__name__} has no demonstrations; it cannot warm-start a policy")

    # ---- facts about the reward ---------------------------------------------------------------------------------

    @property
    def reward_dim(self) -> int:
        """k, the length of the reward vector."""
        return len(self.objectives)

    @property
    def reference_weights(self) -> NDArray[np.float64]:
        """The fixed scalarization (k,), sums to 1, that scalar baselines and best@k use. Default: equal weights.

        Of a problem that has not all objectives: `problem_weights`.
        """
        return np.full(self.reward_dim, 1.0 / self.reward_dim)

    def problem_weights(self, problem: ProblemT) -> NDArray[np.float64]:
        """The reference weights (k,) over the real objectives of a problem: 0 for the others, sums to 1."""
        if not self.has_objective_mask:
            return self.reference_weights
        weights = self.reference_weights * self.objective_mask(problem)
        return weights / weights.sum()

    def objective_mask(self, problem: ProblemT) -> NDArray[np.bool_]:
        """Which objectives (k,) are real for this problem; padded ones always score 0."""
        return np.ones(self.reward_dim, bool)

    @property
    def has_objective_mask(self) -> bool:
        """Whether problems of this task differ in their number of objectives."""
        return type(self).objective_mask is not Task.objective_mask

    # ---- looking ------------------------------------------------------------------------------------------------

    def render(
        self,
        problem: ProblemT,
        answers: Sequence[str | None],
        rewards: NDArray[np.float32],
        mode: str = "ansi",
        details: Sequence[dict[str, Any]] = (),
    ) -> Any:
        """A picture of the problem and, once answered, of the m answers with their rewards (m, k).

        `details` is given where the task has `answer_details`: m dicts, empty for absent answers.
        """
        lines = [_answers.prompt_text(self.messages(problem, max(1, len(answers))))]
        for i, (answer, row) in enumerate(zip(answers, rewards, strict=True), start=1):
            scores = "  ".join(f"{o.name}={v:.2f}" for o, v in zip(self.objectives, row, strict=True))
            lines += [f"--- answer {i}: {'(none)' if answer is None else answer}", scores]
            lines += [f"{name}: {value}" for name, value in (details[i - 1].items() if details else ())]
        return "\n".join(lines)
