"""A child that runs the check code of a data set. The program that it checks runs in another child."""

from __future__ import annotations

import builtins
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import frames
from .interpreter import Interpreter, show_exception
from .values import decode, encode

if TYPE_CHECKING:
    from .child import Channel

globals()["__builtins__"] = dict(vars(builtins))
_ENDS = (StopIteration, StopAsyncIteration)  # they would end the check's own loops, such as all(map(candidate, ...))
EXCEPTIONS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, _ENDS)
}
"""What a call may raise in the check. Others arrive as RuntimeError."""


def run(channel: Channel, interpreter: Interpreter) -> None:
    """Run setup and check code. Every call of the candidate and every evaluated assert statement is a frame."""
    header = channel.header
    interpreter.put_back()
    interpreter.open_standard(None)

    def candidate(*arguments: Any, **keywords: Any) -> Any:
        channel.send(frames.CALL, 0, (0, 0), encode((arguments, keywords)).encode("ascii"))
        is_exception, text = channel.request()
        value = decode(text)
        if not is_exception:
            return value
        name, message = value
        raise EXCEPTIONS.get(name, RuntimeError)(message)

    def report(number: int, truth: bool, last: bool) -> None:
        channel.send(
            frames.ASSERT,
            number,
            (0, 0),
            (frames.TRUE if truth else frames.FALSE) + (frames.LAST if last else frames.AGAIN),
        )

    module = ModuleType("check")
    sys.modules["check"] = module
    namespace = vars(module)
    namespace["__report__"] = report
    kind = frames.CHECK_END
    try:
        exec(compile(header["setup"], "<setup>", "exec", dont_inherit=True), namespace)
        namespace.setdefault(header["entry_point"], candidate)
        exec(compile(header["program"], "<program>", "exec", dont_inherit=True), namespace)
        namespace["check"](candidate)
    except BaseException as error:
        show_exception(error)
        kind = frames.CHECK_ERROR
    interpreter.flush()
    channel.send(kind, 0, interpreter.sizes())
