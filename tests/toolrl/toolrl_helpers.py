"""What the tool-calling tests share."""

from __future__ import annotations

import json
from typing import Any

from vpo_envs.toolrl import ToolProblem

PLAN = "<think> a plan </think>\n"
WORDS = "<response> Here you are. </response>"


def call(name: str, **parameters: Any) -> dict[str, Any]:
    return {"name": name, "parameters": parameters}


def section(*calls: Any) -> str:
    """A call section; a text stands in it as it is."""
    return "<tool_call>\n" + "\n".join(c if isinstance(c, str) else json.dumps(c) for c in calls) + "\n</tool_call>"


def problem(*gold: dict[str, Any]) -> ToolProblem:
    """A problem that expects these calls, or none."""
    return ToolProblem((("system", "Tools."), ("user", "Please.")), PLAN + (section(*gold) if gold else WORDS))


HOTEL = call("book_hotel", city="Oslo", nights=2, breakfast=False)
TRAIN = call("find_train", origin="Oslo", destination="New York City")
