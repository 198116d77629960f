"""The fork server: a locked interpreter that forks a child for every program. It never holds a program or its data.

It is started by `worker.py` with an empty environment and watches its socket and its children at the same time: when
the supervisor is gone, everything ends.
"""

from __future__ import annotations

import array
import atexit
import builtins
import gc
import importlib
import json
import os
import posix
import select
import signal
import site
import socket
import sys
import threading
from typing import Any, NoReturn

from . import child
from .frames import ENDED, FAILED, REPLY, SPAWN, STARTED
from .interpreter import Interpreter, stack_size
from .lockdown import SELF_TEST, THREAD_STACK, Lockdown, self_test

# What programs import most: already there in every child.
_IMPORTED = (
    "__future__ abc array ast atexit base64 binascii bisect builtins bz2 calendar cmath codecs collections.abc "
    "contextlib contextvars copy csv dataclasses datetime decimal difflib encodings.ascii encodings.idna "
    "encodings.latin_1 encodings.utf_8_sig enum fractions functools gc graphlib hashlib heapq inspect io "
    "itertools json keyword linecache locale math numbers operator os os.path pickle platform pprint queue random "
    "re resource sched secrets select shutil signal statistics string stringprep struct sys tempfile textwrap "
    "threading time timeit tokenize traceback types typing unicodedata uuid warnings weakref zlib zoneinfo "
)


def main(descriptor: int, config: dict[str, Any]) -> NoReturn:
    """Serve the supervisor at the other end of the socket `descriptor`, and end with it."""
    for name in _IMPORTED.split():
        importlib.import_module(name)
    os.register_at_fork = posix.register_at_fork  # see worker.py
    atexit._clear()  # nothing of the modules above has to happen when a program ends
    os.environ.clear()
    sys.set_int_max_str_digits(50_000)
    sys.setrecursionlimit(20_000)
    builtins.__dict__.update(exit=sys.exit, quit=sys.exit)  # `site` adds them, but its own close standard input
    site.setcopyright()
    site.sethelper()
    control = socket.socket(fileno=descriptor)
    threading.stack_size(THREAD_STACK)
    threading.stack_size = stack_size
    child.warm_up(Interpreter())
    lockdown = Lockdown(config["parent"], [path for path in sys.path if os.path.isdir(path)], config["without"])
    interpreter = Interpreter()
    gc.collect()
    gc.freeze()
    gc.disable()
    lockdown.report["self_test"] = _self_test(lockdown)
    control.send(json.dumps(lockdown.report).encode())
    del config
    _serve(control, lockdown, interpreter)


def _self_test(lockdown: Lockdown) -> dict[str, bool]:
    """Whether each thing that a child must not do was refused."""
    server, pid = os.getpid(), os.fork()
    if pid == 0:
        try:
            lockdown.lock_child(server, 10, 64 << 20, 1 << 20)
            os._exit(64 | self_test())
        finally:
            os._exit(63)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status < 64:
        raise RuntimeError(f"the self-test in a locked child failed: {status}")
    return {what: not status >> i & 1 for i, what in enumerate(SELF_TEST)}


def _serve(control: socket.socket, lockdown: Lockdown, interpreter: Interpreter) -> NoReturn:
    children: dict[int, tuple[int, int]] = {}  # pidfd -> token, pid
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor != control.fileno():
                poll.unregister(descriptor)
                _report_end(control, *children.pop(descriptor))
                os.close(descriptor)
                continue
            message, ancillary, _, _ = control.recvmsg(SPAWN.size, socket.CMSG_SPACE(6 * 4))
            if not message:
                for running in children:
                    signal.pidfd_send_signal(running, signal.SIGKILL)
                os._exit(0)
            given = array.array("i")
            given.frombytes(ancillary[0][2])
            token, *limits = SPAWN.unpack(message)
            if pid := _spawn(control, lockdown, interpreter, token, limits, list(given)):
                pidfd = os.pidfd_open(pid)
                socket.send_fds(control, [REPLY.pack(STARTED, token, pid, 0)], [pidfd])
                children[pidfd] = token, pid
                poll.register(pidfd, select.POLLIN)


def _spawn(
    control: socket.socket,
    lockdown: Lockdown,
    interpreter: Interpreter,
    token: int,
    limits: list[int],
    given: list[int],
) -> int:
    """Fork a child with the descriptors `given`. Returns its pid, or 0 if that failed."""
    server = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        control.send(REPLY.pack(FAILED, token, error.errno or 0, 0))
        return 0
    finally:
        if os.getpid() == server:
            for descriptor in given:
                os.close(descriptor)
    if pid == 0:
        try:
            first, *rest = limits
            channel = child.take_descriptors(given, control.detach())
            lockdown.lock_child(server, *rest)
            child.run(channel, interpreter, first)
        finally:
            os._exit(99)
    return pid


def _report_end(control: socket.socket, token: int, pid: int) -> None:
    _, status, usage = os.wait4(pid, 0)
    used = round(1e6 * (usage.ru_utime + usage.ru_stime))
    control.send(REPLY.pack(ENDED, token, os.waitstatus_to_exitcode(status), used))
