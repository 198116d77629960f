"""Adapters between environments."""

from vpo_envs.wrappers.candidate_answers import CandidateAnswers
from vpo_envs.wrappers.multi_answer import MultiAnswer
from vpo_envs.wrappers.token_actions import TokenActions
from vpo_envs.wrappers.vocabulary import Vocabulary

__all__ = ["CandidateAnswers", "MultiAnswer", "TokenActions", "Vocabulary"]
