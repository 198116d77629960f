"""A child: runs one program on its tests and tells the supervisor what came out. Nothing it says is trusted."""

from __future__ import annotations

import builtins
import json
import os
import sys
from json import loads
from types import ModuleType
from typing import Any, NoReturn

from . import check, frames
from .interpreter import PROGRAM, Interpreter, in_empty_context, show_exception
from .values import TooLarge, decode, encode

globals()["__builtins__"] = dict(vars(builtins))  # programs may patch the module; the functions below keep this copy

_write, _read, _pread, _exit, _encode_text, _pack = (
    os.write,
    os.read,
    os.pread,
    os._exit,
    str.encode,
    frames.HEADER.pack,
)
_compile, _exec, _SystemExit, _sys = compile, exec, SystemExit, sys


class Channel:
    """The descriptors of a child."""

    def __init__(
        self, job: int, stdin: int, stdout: int, stderr: int, output: int, requests: int | None = None
    ) -> None:
        self.standard = (stdin, stdout, stderr)
        self.job, self.output, self.requests = job, output, requests
        size = int.from_bytes(_pread(job, 4, 0), "little")
        self.header: dict[str, Any] = loads(_pread(job, size, 4))
        self.starts = [4 + size]
        for length in self.header["lengths"]:
            self.starts.append(self.starts[-1] + length)
        self.most = self.header["output_bytes"]

    def input(self, i: int) -> bytes:
        """Input i of the job."""
        at, end, parts = self.starts[i], self.starts[i + 1], []
        while at < end:
            parts.append(_pread(self.job, end - at, at))
            at += len(parts[-1])
        return b"".join(parts)

    def send(self, kind: int, test: int, sizes: tuple[int, int] = (0, 0), payload: bytes = b"") -> None:
        """Write one frame."""
        if len(payload) > self.most:
            kind, payload = frames.TOO_LARGE, b""
        view = memoryview(_pack(kind, test, *sizes, len(payload)) + payload)
        while view:
            view = view[_write(self.output, view) :]

    def request(self) -> tuple[int, str]:
        """Wait for a request or an answer: whether it is an exception, and its text."""
        head = b""
        while len(head) < frames.REQUEST.size:
            if not (part := _read(self.requests, frames.REQUEST.size - len(head))):  # type: ignore[arg-type]
                _exit(0)
            head += part
        kind, size = frames.REQUEST.unpack(head)
        return kind, _pread(self.standard[0], size, 0).decode("ascii")


def take_descriptors(given: list[int], control: int) -> Channel:
    """Keep the descriptors `given` and close all others, the server's socket `control` among them."""
    os.close(control)
    for number, spare in enumerate(given[1:4]):
        os.dup2(spare, number)
    at = 3
    for descriptor in sorted(given):
        os.closerange(at, descriptor)
        at = descriptor + 1
    os.closerange(at, 1 << 16)
    return Channel(*given)


def run(channel: Channel, interpreter: Interpreter, first: int) -> NoReturn:
    """Run the job from test `first` on. `interpreter`: the state of the fork server."""
    mode = channel.header["mode"]
    interpreter.standard = channel.standard
    interpreter.look_at(channel.header["program"])
    if mode == frames.STDIN:
        _run_printing(channel, interpreter, first)
    elif mode == frames.CALLS:
        _run_calls(channel, interpreter, first)
    elif mode == frames.SERVE:
        _serve_calls(channel, interpreter)
    else:
        check.run(channel, interpreter)
    _exit(0)


def warm_up(interpreter: Interpreter) -> None:
    """Run trivial jobs in the fork server itself, so that children share settled code and memory."""
    saved = [os.dup(number) for number in range(3)]
    for mode, program, test in ((frames.STDIN, "print(input())", b"x"), (frames.CALLS, "f = len", b'{"t":[[]]}')):
        header = {"mode": mode, "program": program, "entry_point": "f", "lengths": [len(test)] * 20, "output_bytes": 99}
        text = json.dumps(header).encode()
        files = [os.memfd_create("warm_up") for _ in range(5)]
        os.write(files[0], len(text).to_bytes(4, "little") + text + 20 * test)
        channel = Channel(*files)
        interpreter.standard = channel.standard
        (_run_printing if mode == frames.STDIN else _run_calls)(channel, interpreter, 0)
        interpreter.put_back()
        for number, file in enumerate(saved):
            os.dup2(file, number)
        for file in files:
            os.close(file)
    for file in saved:
        os.close(file)


# ---- programs that read standard input and print --------------------------------------------------------------------


def _run_printing(channel: Channel, interpreter: Interpreter, first: int) -> None:
    code = _compiled(channel, interpreter)
    for i in range(first, len(channel.starts) - 1):
        interpreter.put_back()
        interpreter.open_standard(channel.input(i))
        module = _new_module("__main__")
        kind = _attempt(in_empty_context, _exec, code, module.__dict__)[0]
        ended, left = _attempt(interpreter.end_threads)
        _attempt(interpreter.run_exit_functions)
        module.__dict__.clear()
        if not interpreter.flush() and kind == frames.DONE:
            kind = frames.ERROR
        channel.send(ended if kind == frames.DONE else kind, i, interpreter.sizes())
        if left or interpreter.threads_remain():
            _leave(channel, interpreter, i + 1)


# ---- programs that define a function --------------------------------------------------------------------------------


def _run_calls(channel: Channel, interpreter: Interpreter, first: int) -> None:
    interpreter = _define(channel, interpreter)
    channel.send(frames.READY, 0, interpreter.sizes())
    for i in range(first, len(channel.starts) - 1):
        interpreter.put_back()
        arguments = decode(channel.input(i).decode("ascii"))
        _call_and_report(channel, interpreter, i, arguments, {})
        del arguments
        if interpreter.threads_remain():
            _leave(channel, interpreter, i + 1)


def _serve_calls(channel: Channel, interpreter: Interpreter) -> None:
    interpreter = _define(channel, interpreter)
    channel.send(frames.READY, 0, interpreter.sizes())
    while True:
        arguments, keywords = decode(channel.request()[1])
        interpreter.put_back()
        _call_and_report(channel, interpreter, 0, arguments, keywords)


def _define(channel: Channel, interpreter: Interpreter) -> Interpreter:
    """Run the program once, so that its functions exist, and take its state as the one to put back."""
    code = _compiled(channel, interpreter)
    interpreter.put_back()
    interpreter.open_standard(None)
    module = _new_module("program")
    kind = _attempt(in_empty_context, _exec, code, module.__dict__)[0]
    if kind == frames.DONE:
        kind = _attempt(_entry_point, module.__dict__, channel.header["entry_point"])[0]
    if kind != frames.DONE:
        interpreter.flush()
        channel.send(frames.SETUP_MEMORY if kind == frames.MEMORY else frames.SETUP_ERROR, 0, interpreter.sizes())
        _exit(0)
    defined = Interpreter()
    defined.look_at(channel.header["program"])
    defined.standard, defined.files = interpreter.standard, interpreter.files
    return defined


def _entry_point(namespace: dict[str, Any], name: str) -> Any:
    if isinstance(solution := namespace.get("Solution"), type) and hasattr(solution, name):
        return getattr(solution(), name)
    if name not in namespace:
        raise NameError(f"the program defines neither {name} nor a class Solution with a method {name}")
    return namespace[name]


def _call_and_report(channel: Channel, interpreter: Interpreter, i: int, arguments: Any, keywords: Any) -> None:
    def call() -> str:
        function = _entry_point(_sys.modules["program"].__dict__, channel.header["entry_point"])
        result = function(*arguments, **keywords)
        try:
            return encode(result)
        except TooLarge:
            return "0" * (channel.most + 1)

    kind, result = _attempt(in_empty_context, call)
    if kind == frames.DONE and result is None:  # it exited instead of returning
        kind = frames.ERROR
    interpreter.flush()
    payload = _encode_text(result, "ascii") if kind == frames.DONE else b""
    if kind == frames.ERROR and result is not None and channel.header["mode"] == frames.SERVE:
        payload = _encode_text(encode(result), "ascii")
    channel.send(kind, i, interpreter.sizes(), payload)


# ---- both -----------------------------------------------------------------------------------------------------------


def _compiled(channel: Channel, interpreter: Interpreter) -> Any:
    try:
        return _compile(channel.header["program"], PROGRAM, "exec", dont_inherit=True)
    except BaseException as error:
        interpreter.open_standard(b"")
        show_exception(error)
        interpreter.flush()
        channel.send(frames.COMPILE_ERROR, 0, interpreter.sizes())
        _exit(0)


def _new_module(name: str) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(__builtins__=builtins, __file__=PROGRAM)  # else its built-in names were the copy above
    _sys.modules[name] = module
    return module


def _attempt(function: Any, *arguments: Any) -> tuple[int, Any]:
    """(DONE, result), (MEMORY, None) or (ERROR, (name, message)). Exiting, with whatever code, is a normal end."""
    try:
        return frames.DONE, function(*arguments)
    except _SystemExit as error:
        if error.code is not None and not isinstance(error.code, int):
            _attempt(_say, error.code)
        return frames.DONE, None
    except MemoryError as error:
        show_exception(error)
        return frames.MEMORY, None
    except BaseException as error:
        show_exception(error)
        return frames.ERROR, _described(error)


def _say(message: Any) -> None:
    print(message, file=_sys.stderr)


def _described(error: BaseException) -> tuple[str, str]:
    try:
        return str(type(error).__name__)[:100], str(error)[:1000]
    except BaseException:
        return "Exception", ""


def _leave(channel: Channel, interpreter: Interpreter, following: int) -> NoReturn:
    channel.send(frames.LEAVE, following, interpreter.sizes())
    _exit(0)
