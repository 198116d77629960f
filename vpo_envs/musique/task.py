"""The MuSiQue task: how a question is asked, how an answer is read, and what it earns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random

import numpy as np
from numpy.typing import NDArray

from vpo_envs.answers import ask_for_answers, describe_weights
from vpo_envs.musique.demonstrations import careless_answer
from vpo_envs.musique.generator import SHAPES, generated_problem
from vpo_envs.musique.names import MAX_WORDS
from vpo_envs.musique.problems import MAX_HOPS, Problem, loaded_problems, stratified
from vpo_envs.musique.rewards import MAX_CITATIONS, NOTHING, read_answer, reward_of, words
from vpo_envs.problem_lists import GeneratedProblems, check_index, check_whole
from vpo_envs.task import Message, Objective, Split, Task

MAX_PARAGRAPHS, MAX_SENTENCES = 30, 3  # of generated documents: as far as there are names and relations
MIN_WORDS = 10  # of a pool


class MuSiQueTask(Task[Problem]):
    """Answer a question that takes 2 to 4 steps through numbered paragraphs, and cite the paragraph of each step.

    ## Description
    A question, 20 paragraphs, and among them one for each step of the reasoning. The data are MuSiQue's (Trivedi et
    al. 2022, arXiv 2108.00573); the reward vector is that of Bahlous-Boldi et al. (arXiv 2605.22817). By default the
    documents are generated: invented people, places and works, no question in both splits.

    ## Answer
    `<support>3 7</support>` with the numbers of the paragraphs, and `<answer>...</answer>`. Of several complete
    elements the last one counts. What stands outside them is not scored, and what stands in `<think>` is not even
    looked at. Every run of the digits 0-9 in `<support>` is a number: `3, 7` and `[3][7]` are two, and `1-20` is 1 and
    20, not a range. For several answers the tags around each are `<response_1>`, `<response_2>` ...

    ## Rewards
    | objective          | value                                                                               |
    |--------------------|-------------------------------------------------------------------------------------|
    | `hop_1` to `hop_4` | 1 if the paragraph of that step is cited; also if the question has fewer steps      |
    | `answer_f1`        | best token F1 over the answer and its aliases, in [0, 1], SQuAD's normalisation     |

    All are 0 if there is no complete `<answer>`, or a blank one. The reference weights are 1, 1, 1, 1, 3, divided by 7.

    Against gaming: only the first 4 distinct numbers count, and a number that no paragraph has takes a place like any
    other, so citing everything earns what citing the first four does. Repeating a number earns nothing. Padding an
    answer lowers its F1. Citations without an answer earn nothing, nor does an answer that is cut off or only
    thought. Answers with the same cited numbers and the same words count once in a set, whatever their order.

    ## Arguments
    * `split`: "train" or "test".
    * `data`: default generated; the path of a file in the official format, used for either split; a folder with
      `musique_ans_v1.0_train.jsonl` and `musique_ans_v1.0_dev.jsonl`; or "hub" (dgslibisey/MuSiQue).
    * `skip_bad_rows`: leave bad rows of `data` out, with a warning, instead of refusing them all.
    * `num_problems`: generated: problems in the split, default 1000 for training and 100 for testing. Loaded: at most
      so many, as evenly as possible from each number of hops; default all.
    * Generated problems only: `num_paragraphs`, default 20, from one more than the hops to 30; `hops`, default
      (2, 3, 4), numbers that take turns, or one of them; `sentences` in a paragraph, 1 to 3, default 2; `wordings` in
      which a fact is stated, 1 or 2 (default); `names`, how many words of each pool make names
      (more where that is not enough), default all.

    ## Version History
    v0: first version.
    """

    objectives = (
        *(Objective(f"hop_{i}", f"cite the paragraph of step {i}, if there is one") for i in range(1, MAX_HOPS + 1)),
        Objective("answer_f1", "words in common with the right answer"),
    )

    def __init__(
        self,
        split: Split = "train",
        data: str | None = None,
        skip_bad_rows: bool = False,
        num_problems: int | None = None,
        num_paragraphs: int = 20,
        hops: int | Sequence[int] = (2, 3, 4),
        sentences: int = 2,
        wordings: int = 2,
        names: int = MAX_WORDS,
    ) -> None:
        super().__init__(split, data)
        hops = _check_hops(hops)
        check_whole("MuSiQue: num_paragraphs", num_paragraphs, max(hops) + 1, MAX_PARAGRAPHS)
        check_whole("MuSiQue: sentences", sentences, 1, MAX_SENTENCES)
        check_whole("MuSiQue: wordings", wordings, 1, 2)
        check_whole("MuSiQue: names", names, MIN_WORDS, MAX_WORDS)
        if num_problems is not None:
            check_whole("MuSiQue: num_problems", num_problems, 1)
        self._problems: Sequence[Problem]
        if data is None:
            make = partial(generated_problem, split, hops, num_paragraphs, sentences, wordings, names)
            self._problems = GeneratedProblems(num_problems or (1000 if split == "train" else 100), make)
        else:
            self._problems = loaded_problems(data, split, skip_bad_rows)
            if num_problems is not None:
                self._problems = stratified(self._problems, num_problems)

    def __len__(self) -> int:
        return len(self._problems)

    def __getitem__(self, index: int) -> Problem:
        return self._problems[check_index(index, len(self), "question")]

    @property
    def reference_weights(self) -> NDArray[np.float64]:
        return np.array([1, 1, 1, 1, 3]) / 7

    def messages(self, problem: Problem, num_answers: int = 1, weights: Sequence[float] | None = None) -> list[Message]:
        # The question comes first, so that it is known while the paragraphs are read, and what depends on the number of
        # answers last, so that prompts share a prefix.
        lines = [f"Question: {_one_line(problem.question)}", "Paragraphs, each with its number:"]
        lines += [
            f"- {_one_line(title)} [{i}] - {_one_line(text)}"
            for i, (title, text) in enumerate(zip(problem.titles, problem.texts, strict=True))
        ]
        lines.append(f"It takes 2 to {MAX_HOPS} steps. What each step needs is stated in one of the paragraphs.")
        steps = (
            "quote for each step, on a line of its own, the title and number of its paragraph and the words that state "
            "it."
        )
        if num_answers == 1:
            lines.append(f"First {steps}")
        else:
            lines.append(ask_for_answers(self.answer_tag, num_answers))
            lines.append(f"Inside the tags first {steps}")
        lines.append(
            f"Then write the numbers of these paragraphs (only the first {MAX_CITATIONS} count) and the answer, which "
            "is a name or a few words, like this: <support>[3] [7]</support><answer>...</answer>"
        )
        if weights is not None:
            lines.append(describe_weights([o.name for o in self.objectives], weights))
        return [{"role": "user", "content": "\n".join(lines)}]

    def extract(self, response: str) -> str | None:
        return None if read_answer(response) is None else response

    def wrap(self, answer: str) -> str:
        return answer

    def is_answer(self, answer: str) -> bool:
        return self.extract(answer) is not None

    def normalise(self, answer: str) -> tuple[frozenset[str], tuple[str, ...]] | None:
        """The cited numbers and the words, both without their order; None for all texts without an answer."""
        read = read_answer(answer)
        return None if read is None else (frozenset(read.cited), tuple(sorted(words(read.text))))

    def score(self, problem: Problem, answer: str) -> NDArray[np.float32]:
        return np.array(reward_of(problem, read_answer(answer)), np.float32)

    def score_batch(self, problems: Sequence[Problem], answers: Sequence[str]) -> NDArray[np.float32]:
        scores = [reward_of(p, read_answer(a)) for p, a in zip(problems, answers, strict=True)]
        return np.array(scores, np.float32).reshape(len(scores), len(NOTHING))

    def gold(self, problem: Problem) -> str:
        """An answer that earns 1 in every objective."""
        cited = " ".join(dict.fromkeys(str(hop.paragraph) for hop in problem.hops))
        return f"<support>{cited}</support><answer>{problem.answers[0]}</answer>"

    def demonstration(self, problem: Problem, rng: Random) -> str:
        return careless_answer(problem, rng)


def _check_hops(hops: int | Sequence[int]) -> tuple[int, ...]:
    """The numbers of hops, sorted. Raises ValueError unless they are some of 2, 3, 4."""
    chosen = hops if isinstance(hops, tuple | list) else (hops,)
    if not chosen or not all(isinstance(n, int) and n in SHAPES for n in chosen):
        raise ValueError(f"MuSiQue: hops must be {min(SHAPES)} to {max(SHAPES)}, or several such numbers, not {hops!r}")
    return tuple(sorted(set(chosen)))


def _one_line(text: str) -> str:
    """Line breaks as spaces: in a prompt each paragraph is one line, which no other can imitate."""
    return text.replace("\r", " ").replace("\n", " ")
