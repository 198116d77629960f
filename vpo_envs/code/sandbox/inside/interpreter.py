"""Puts back what a program changed in its interpreter, and does what an interpreter does when a program ends."""

from __future__ import annotations

import _random
import _signal  # type: ignore[import-not-found]  # the module signal without its enums
import atexit
import builtins
import contextvars
import gc
import io
import os
import random
import resource
import signal
import sys
import threading
from _thread import _count as count_threads
from typing import Any

from .lockdown import STACK_ROOM, THREAD_STACK

globals()["__builtins__"] = dict(vars(builtins))  # programs may patch the module; the functions below keep this copy

_SIGNALS = (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
_SYS = ("modules", "path", "excepthook", "displayhook", "unraisablehook", "exit", "stdin", "stdout", "stderr")
_BUILTINS, _set_attribute = vars(builtins), setattr
_alarm, _set_signal, _get_signal = _signal.alarm, _signal.signal, _signal.getsignal
_set_trace, _set_profile, _set_recursion_limit = sys.settrace, sys.setprofile, sys.setrecursionlimit
_set_digits, _set_stack = sys.set_int_max_str_digits, threading.stack_size
_get_limit, _set_limit = resource.getrlimit, resource.setrlimit
_empty_context, _collect_garbage = contextvars.Context, gc.enable
_numbers: Any = random._inst  # the generator of random.random()
_seed = _random.Random.seed
_run_exit_functions = atexit._run_exitfuncs
_threads, _join, _this_thread = threading.enumerate, threading.Thread.join, threading.current_thread
_dup2, _truncate, _pwrite, _seek, _stat = os.dup2, os.ftruncate, os.pwrite, os.lseek, os.fstat
_text, _reader, _writer, _file = io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.FileIO


class Interpreter:
    """The state that programs commonly change, as it was when this object was made."""

    def __init__(self) -> None:
        self.standard = (0, 1, 2)
        """Spare descriptors of standard input, output and error, in case the program closes 0, 1 and 2."""
        self.builtins: dict[str, Any] | None = None
        """The built-in names, if they have to be put back (`look_at`)."""
        self.has_signals = self.has_random = True
        """Whether signals and random numbers have to be put back."""
        self.sys = [(name, getattr(sys, name)) for name in _SYS]
        self.path = list(sys.path)
        self.environ = os.environ
        self.recursion_limit = sys.getrecursionlimit()
        self.digits = sys.get_int_max_str_digits()
        self.stack = _set_stack(THREAD_STACK)
        _set_stack(self.stack)
        self.signals = [(s, _get_signal(s)) for s in _SIGNALS]
        self.files: tuple[Any, ...] = ()

    def look_at(self, program: str) -> None:
        """See what has to be put back: what takes long is left out where a program does not even name the module."""
        if "builtins" in program:
            self.builtins = dict(_BUILTINS)  # all of them cost 100 page copies
        native = "ctypes" in program
        self.has_signals = native or "signal" in program
        self.has_random = native or "random" in program

    def put_back(self) -> None:
        """As for a fresh interpreter: to be called before each test."""
        _set_trace(None)
        _set_profile(None)
        if self.has_signals:
            _alarm(0)
            for number, handler in self.signals:
                if _get_signal(number) is not handler:
                    _set_signal(number, handler)
        if self.builtins is not None:
            _BUILTINS.clear()
            _BUILTINS.update(self.builtins)
        for name, value in self.sys:
            _set_attribute(sys, name, value)
        sys.argv, sys.path[:] = [""], self.path
        self.environ.clear()
        _set_recursion_limit(self.recursion_limit)
        _set_digits(self.digits)
        if _set_stack(self.stack) != self.stack:
            _make_room(self.stack)
        _collect_garbage()
        if self.has_random:
            _seed(_numbers, 0)
            _numbers.gauss_next = None  # a program's random numbers, and so its score, are the same each time

    def open_standard(self, content: bytes | None) -> None:
        """Fresh descriptors 0, 1 and 2 and their file objects; `content` is what standard input holds (None: as is)."""
        stdin = self.standard[0]
        if content is not None:
            _truncate(stdin, 0)
            view, at = memoryview(content), 0
            while at < len(view):
                at += _pwrite(stdin, view[at:], at)
            _seek(stdin, 0, 0)
        for number, spare in enumerate(self.standard):
            _dup2(spare, number)
        errors: Any = self.files[2] if self.files else None
        if errors is None or not _is_open(errors):
            errors = _text(_writer(_file(2, "w", closefd=False)), "utf-8", "backslashreplace", line_buffering=True)
            errors.buffer.raw.name, errors.mode = "<stderr>", "w"
        raw_input, raw_output = _file(0, "r", closefd=False), _file(1, "w", closefd=False)
        raw_input.name, raw_output.name = "<stdin>", "<stdout>"
        reader: Any = _text(_reader(raw_input, 65536), "utf-8", "surrogateescape")
        writer: Any = _text(_writer(raw_output, 65536), "utf-8", "surrogateescape")
        reader.mode, writer.mode = "r", "w"
        self.files = files = (reader, writer, errors)
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = files  # type: ignore[misc]

    def flush(self) -> bool:
        """Write out what the program printed. False if that fails."""
        good = True
        for file in (sys.stdout, sys.stderr, *self.files[1:]):
            try:
                if _is_open(file):
                    file.flush()
            except BaseException:
                good = file is not self.files[1] and good
        return good

    def sizes(self) -> tuple[int, int]:
        """Bytes in standard output and standard error so far."""
        return _stat(self.standard[1]).st_size, _stat(self.standard[2]).st_size

    def end_threads(self) -> bool:
        """Wait for threads as at the end of a program. Returns whether there were any that still ran."""
        if not count_threads():
            return False
        for function in reversed(threading._threading_atexits):  # type: ignore[attr-defined]
            function()
        me = _this_thread()
        while waiting := [t for t in _threads() if t is not me and not t.daemon]:
            for thread in waiting:
                _join(thread)
        return True

    def threads_remain(self) -> bool:
        """Whether there may be threads of a test that ended: a large stack is not freed before its thread is gone."""
        return bool(count_threads()) or _set_stack(THREAD_STACK) > THREAD_STACK

    def run_exit_functions(self) -> None:
        """What has to happen while the program's names are still there."""
        _run_exit_functions()
        for file, ours in zip((sys.stdout, sys.stderr), self.files[1:], strict=True):
            if file is not ours and _is_open(file):
                file.flush()


def stack_size(size: int = 0) -> int:
    """In place of `threading.stack_size`: one large stack is no memory of the program until it is used."""
    before = _set_stack(size or THREAD_STACK)
    _make_room(size)
    return before


def _make_room(size: int) -> None:
    """Let the program have a stack of this size beyond its memory (`Lockdown.lock_child`)."""
    _, most = _get_limit(resource.RLIMIT_AS)
    room = min(size + (1 << 20), STACK_ROOM) if size > THREAD_STACK else 0
    _set_limit(resource.RLIMIT_AS, (most - STACK_ROOM + room, most))


def _is_open(file: Any) -> bool:
    """Whether a file object is neither closed nor detached from its descriptor."""
    try:
        return not file.closed
    except BaseException:  # a program's own object may do anything
        return False


def in_empty_context(function: Any, *arguments: Any) -> Any:
    """Call it with no context variable set, among them the precision of decimals."""
    return _empty_context().run(function, *arguments)


def show_exception(error: BaseException) -> None:
    """Print the traceback as an interpreter does, without the harness's own frames."""
    try:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != PROGRAM:
            trace = trace.tb_next
        BaseException.with_traceback(error, trace)
        sys.__excepthook__(type(error), error, trace)
    except BaseException:  # the program's own exception class may do anything
        pass


PROGRAM = "<program>"
