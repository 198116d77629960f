"""Calls to the Linux kernel that Python has no function for."""

from __future__ import annotations

import ctypes

from .syscalls import number

Argument = int | ctypes.c_char_p | ctypes.Array[ctypes.c_char] | None

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 28, 38, 47

_libc = ctypes.CDLL(None, use_errno=True)


def try_call(name: str, *arguments: Argument) -> int:
    """The result of a system call, negative if it failed."""
    nr = number(name)
    assert nr is not None
    return int(_libc.syscall(ctypes.c_long(nr), *map(_wide, arguments)))


def call(name: str, *arguments: Argument) -> int:
    """The result of a system call. Raises OSError."""
    if (result := try_call(name, *arguments)) < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def prctl(option: int, value: int = 0, argument: Argument = 0) -> None:
    """Set an attribute of this process. Raises OSError."""
    rest = (ctypes.c_ulong(0), ctypes.c_ulong(0))
    if _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), _wide(argument), *rest) < 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def unshare(flags: int) -> None:
    """Move this process into new namespaces. Raises OSError."""
    if _libc.unshare(ctypes.c_int(flags)) < 0:
        raise OSError(ctypes.get_errno(), "unshare")


def limit_arenas() -> None:
    """One malloc arena for all threads: others would reserve 64 MiB of address space each."""
    if hasattr(_libc, "mallopt"):
        _libc.mallopt(-8, 1)  # M_ARENA_MAX


def buffer(content: bytes) -> ctypes.Array[ctypes.c_char]:
    """Memory that the kernel may read and write."""
    return ctypes.create_string_buffer(content, len(content))


def _wide(argument: Argument) -> object:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument
