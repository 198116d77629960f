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
import signal
import sys
import threading
from _thread import _count as count_threads
from typing import Any

globals()["__builtins__"] = dict(vars(builtins))  # programs may patch the module; the functions below keep this copy

_SIGNALS = (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
_SYS = ("modules", "path", "excepthook", "displayhook", "unraisablehook", "exit", "stdin", "stdout", "stderr")
_BUILTINS, _set_attribute = vars(builtins), setattr
_alarm, _set_signal, _get_signal = _signal.alarm, _signal.signal, _signal.getsignal
_set_trace, _set_profile, _set_recursion_limit = sys.settrace, sys.setprofile, sys.setrecursionlimit
_set_digits, _set_stack = sys.set_int_max_str_digits, threading.stack_size
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
        """The built-in names, if they have to be put back (`keep_builtins`)."""
        self.sys = [(name, getattr(sys, name)) for name in _SYS]
        self.path = list(sys.path)
        self.environ = os.environ
        self.recursion_limit = sys.getrecursionlimit()
        self.digits = sys.get_int_max_str_digits()
        self.stack = threading.stack_size()
        self.signals = [(s, _get_signal(s)) for s in _SIGNALS]
        self.files: tuple[Any, ...] = ()

    def keep_builtins(self, program: str) -> None:
        """Have the built-in names put back too, if the program names their module. All of them cost 100 page copies."""
        if "builtins" in program:
            self.builtins = dict(_BUILTINS)

    def put_back(self) -> None:
        """As for a fresh interpreter: to be called before each test."""
        _set_trace(None)
        _set_profile(None)
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
        _set_stack(self.stack)
        _collect_garbage()
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
        errors = self.files[2] if self.files else None
        if errors is None or not _is_open(errors):
            errors = _text(_writer(_file(2, "w", closefd=False)), "utf-8", "backslashreplace", line_buffering=True)
        files = (
            _text(_reader(_file(0, "r", closefd=False), 65536), "utf-8", "surrogateescape"),
            _text(_writer(_file(1, "w", closefd=False), 65536), "utf-8", "surrogateescape"),
            errors,
        )
        self.files = files
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

    def run_exit_functions(self) -> None:
        _run_exit_functions()


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
