"""Seccomp filters: lists of the system calls that are allowed. All others fail with an error, as if not permitted."""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable

from .kernel import PR_SET_SECCOMP, prctl
from .syscalls import AUDIT_ARCH, CHILD, SERVER, number

Instruction = tuple[int, int, int, int]  # classic BPF: code, jump if true, jump if false, operand

_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data; the low half of an argument comes first
_X32 = 0x40000000
_NOT_READING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o10000000 | 0o20000000
# O_WRONLY RDWR CREAT TRUNC APPEND PATH __O_TMPFILE
_CLONE_THREAD = 0x10000
_FCNTL = (0, 1, 2, 3, 1030)  # F_DUPFD GETFD SETFD GETFL DUPFD_CLOEXEC; F_SETOWN could signal other processes
_IOCTL = (0x541B, 0x5450, 0x5451)  # FIONREAD, FIONCLEX, FIOCLEX; isatty gets the error that it expects


def load(offset: int) -> Instruction:
    return (0x20, 0, 0, offset)


def jump_equal(value: int, then: int, otherwise: int) -> Instruction:
    return (0x15, then, otherwise, value)


def give(result: int) -> Instruction:
    return (0x06, 0, 0, result)


def _denied(error: int) -> Instruction:
    return give(_ERRNO | error)


def _if_call(name: str, architecture: str, body: list[Instruction]) -> list[Instruction]:
    """`body`, which must end the filter, for the system call `name`. The number is loaded before and after."""
    nr = number(name, architecture)
    return [] if nr is None else [jump_equal(nr, 0, len(body)), *body]


def _allow_values(argument: int, values: Iterable[int], error: int = errno.EPERM) -> list[Instruction]:
    """Allow if the low half of the argument is one of the values."""
    checks = [step for value in values for step in (jump_equal(value, 0, 1), give(_ALLOW))]
    return [load(_ARGUMENTS + 8 * argument), *checks, _denied(error)]


def _allow_bits(argument: int, mask: int, value: int) -> list[Instruction]:
    """Allow if (argument & mask) == value."""
    bits = (0x54, 0, 0, mask)
    return [load(_ARGUMENTS + 8 * argument), bits, jump_equal(value, 0, 1), give(_ALLOW), _denied(errno.EPERM)]


def _allow_list(names: Iterable[str], architecture: str, opening: bool) -> list[Instruction]:
    head = [load(_ARCH), jump_equal(AUDIT_ARCH[architecture], 1, 0), give(_KILL_PROCESS), load(_NUMBER)]
    if architecture == "x86_64":
        head += [(0x35, 0, 1, _X32), _denied(errno.EPERM)]  # the other ABI has other numbers
    numbers = sorted(nr for name in names if (nr := number(name, architecture)) is not None)
    body = [step for nr in numbers for step in (jump_equal(nr, 0, 1), give(_ALLOW))]
    for name, flags in (("openat", 2), ("open", 1)):
        body += _if_call(
            name, architecture, _allow_bits(flags, _NOT_READING, 0) if opening else [_denied(errno.EACCES)]
        )
    body += _if_call("ioctl", architecture, _allow_values(1, _IOCTL, errno.ENOTTY))
    body += _if_call("fcntl", architecture, _allow_values(1, _FCNTL))
    body += _if_call("clone3", architecture, [_denied(errno.ENOSYS)])  # its flags are out of sight: clone is tried next
    return head + body


def server_filter(architecture: str) -> list[Instruction]:
    """For the fork server: what a child may do, and making, watching and killing children."""
    return [*_allow_list(SERVER, architecture, opening=True), _denied(errno.EPERM)]


def child_filter(architecture: str, opening: bool) -> list[Instruction]:
    """For a child, on top of the server's: threads but no processes, own limits only. `opening`: may read files."""
    body = _allow_list(CHILD, architecture, opening)
    body += _if_call("clone", architecture, _allow_bits(0, _CLONE_THREAD, _CLONE_THREAD))
    body += _if_call("prlimit64", architecture, _allow_values(0, (0,)))
    return [*body, _denied(errno.EPERM)]


class Filter:
    """A filter in the form that the kernel reads, made once and installed in many processes."""

    def __init__(self, program: list[Instruction]) -> None:
        code = b"".join(struct.pack("HBBI", *step) for step in program)
        self._code = ctypes.create_string_buffer(code, len(code))
        self._header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(self._code)))

    def install(self) -> None:
        """Bind this process to the filter, for good. Needs NO_NEW_PRIVS. Raises OSError."""
        prctl(PR_SET_SECCOMP, 2, self._header)
