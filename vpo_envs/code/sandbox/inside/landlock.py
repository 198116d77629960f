"""Landlock: the files that stay readable. Everything else can be neither opened nor changed."""

from __future__ import annotations

import ctypes
import os
import stat
import struct

from .kernel import call, try_call

_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_NOT_THE_LIBRARY = ("site-packages", "dist-packages")  # data sets and solutions may lie there


def version() -> int:
    """The kernel's Landlock version, 0 if there is none."""
    return max(0, try_call("landlock_create_ruleset", None, 0, 1))


def allow_reading(folders: list[str]) -> int:
    """Confine this process to reading these folders without their site-packages. Needs NO_NEW_PRIVS.

    Names of files inside the folders can be listed, those of other folders cannot. Returns the kernel's version of
    Landlock, 0 if nothing was done because there is none. Raises OSError.
    """
    abi = version()
    if not abi:
        return 0
    handled = (1 << 13) - 1  # what version 1 knows: execute, write, read, list, make and remove files of all kinds
    handled |= sum(1 << bit for bit, since in ((13, 2), (14, 3), (15, 5)) if abi >= since)  # refer, truncate, ioctl
    rules = struct.pack("Q", handled)
    if abi >= 4:
        rules += struct.pack("Q", 3)  # binding and connecting TCP
    if abi >= 6:
        rules += struct.pack("Q", 3)  # abstract Unix sockets, signals
    ruleset = call("landlock_create_ruleset", ctypes.c_char_p(rules), len(rules), 0)
    for folder in folders:
        _allow(ruleset, folder, _READ_DIR)
        for entry in os.scandir(folder):
            if entry.name not in _NOT_THE_LIBRARY:
                _allow(ruleset, entry.path, _READ_FILE)
    call("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)
    return abi


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # a dangling link
    if access == _READ_FILE or stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rule = ctypes.c_char_p(struct.pack("=Qi", access, descriptor))
        call("landlock_add_rule", ruleset, 1, rule, 0)
    os.close(descriptor)
