"""The layers between a program and the machine: once for the fork server, then for each child, and their self-test."""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import kernel, landlock, seccomp
from .syscalls import machine

_NEW_NET, _NEW_IPC, _NEW_UTS, _NEW_USER = 0x40000000, 0x08000000, 0x04000000, 0x10000000
_CAPABILITY_HEADER = struct.pack("II", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
_SECURE_BITS = 0x2F  # no privileges for uid 0, no ambient capabilities, both for good
THREAD_STACK, STACK_ROOM = 8 << 20, 513 << 20  # of a thread by default; for one larger one (`interpreter.py`)
_DESCRIPTORS = 64


class Lockdown:
    """The layers of one fork server. Made in it before any program; locks it at once, and each child later."""

    def __init__(self, parent: int, folders: list[str], without: list[str]) -> None:
        """`parent`: the supervisor's pid. `folders`: what may be read. `without`: layers to leave out, for tests."""
        self.report: dict[str, Any] = {}
        self._address_space = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        self.report["namespaces"] = [] if "namespaces" in without else _namespaces()
        os.chdir("/")
        os.umask(0o77)
        self.report["capabilities"] = _drop_capabilities()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        _die_with(parent)  # after the capabilities: losing them clears it
        kernel.limit_arenas()
        self.report["landlock"] = 0 if "landlock" in without else landlock.allow_reading(folders)
        self._filter = None
        self.report["seccomp"] = ""
        if "seccomp" not in without:
            try:
                self._filter = seccomp.Filter(seccomp.child_filter(machine(), opening=self.report["landlock"] > 0))
                seccomp.Filter(seccomp.server_filter(machine())).install()
                self.report["seccomp"] = machine()
            except (OSError, KeyError, ValueError) as error:
                self._filter = None
                self.report["seccomp_error"] = f"{type(error).__name__}: {error}"

    def lock_child(self, server: int, cpu_seconds: int, memory: int, largest_file: int) -> None:
        """Bind this process, a fresh child of `server`, to its limits, for good."""
        _die_with(server)
        space = self._address_space + memory
        resource.setrlimit(resource.RLIMIT_AS, (space, space + STACK_ROOM))
        for kind, value in (
            (resource.RLIMIT_FSIZE, largest_file),
            (resource.RLIMIT_NOFILE, _DESCRIPTORS),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
        ):
            resource.setrlimit(kind, (value, value))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        if self._filter is not None:
            self._filter.install()


def _namespaces() -> list[str]:
    """Leave the machine's network, System V objects and host name. Returns what was left behind."""
    names = ["network", "ipc", "uts"]
    for flags, extra in ((0, []), (_NEW_USER, ["user"])):
        try:
            kernel.unshare(_NEW_NET | _NEW_IPC | _NEW_UTS | flags)
            return names + extra
        except OSError:
            continue
    return []


def _drop_capabilities() -> bool:
    """Give up every capability, also for what could be executed. Returns whether none is left."""
    try:
        for capability in range(64):
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    except OSError:
        pass  # beyond the last one; or it needs a capability that is already gone
    for option, value in ((kernel.PR_CAP_AMBIENT, 4), (kernel.PR_SET_SECUREBITS, _SECURE_BITS)):
        with suppress(OSError):  # without capabilities there is nothing to secure
            kernel.prctl(option, value)
    kernel.call("capset", kernel.buffer(_CAPABILITY_HEADER), kernel.buffer(bytes(24)))
    held = kernel.buffer(bytes(24))
    kernel.call("capget", kernel.buffer(_CAPABILITY_HEADER), held)
    return not any(held.raw)


def _die_with(parent: int) -> None:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the line above
        os._exit(1)


SELF_TEST = ("open a file", "open a socket", "start a process", "signal another process")


def self_test() -> int:
    """Try, in a locked child, what no program may do. Bit i is set if `SELF_TEST[i]` succeeded."""
    succeeded = 0
    for i, attempt in enumerate((_open_files, _open_socket, _start_process, _signal_parent)):
        try:
            attempt()
        except OSError:
            continue
        succeeded |= 1 << i
    return succeeded


def _open_files() -> None:
    for path, flags in (("/etc/passwd", os.O_RDONLY), ("/", os.O_RDONLY), ("/tmp", os.O_RDWR | 0o20000000)):
        try:
            os.open(path, flags)
        except OSError:
            continue
        return
    raise PermissionError


def _open_socket() -> None:
    for family in (socket.AF_INET, socket.AF_UNIX):
        try:
            socket.socket(family, socket.SOCK_DGRAM)
        except OSError:
            continue
        return
    raise PermissionError


def _start_process() -> None:
    if os.fork() == 0:
        os._exit(0)


def _signal_parent() -> None:
    os.kill(os.getppid(), 0)
