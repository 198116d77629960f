"""The table of system calls is that of the kernel's headers, and the filters decide as they should."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from vpo_envs.code.sandbox.inside.seccomp import Instruction, child_filter, server_filter
from vpo_envs.code.sandbox.inside.syscalls import ARCHITECTURES, AUDIT_ARCH, CHILD, NUMBERS, SERVER, number

HEADERS = {  # Debian's place, then others'
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}
ALLOW, KILL = 0x7FFF0000, 0x80000000
THREAD = 0x3D0F00  # the flags that glibc creates threads with


def numbers_in(header: str) -> dict[str, int]:
    """System calls of a header, by name. `__NR3264_x` is the number of x on 64-bit machines."""
    found = re.findall(r"^#define\s+__NR(?:3264)?_(\w+)\s+(\d+)\s*$", Path(header).read_text(), re.MULTILINE)
    aliases = re.findall(r"^#define\s+__NR_(\w+)\s+__NR3264_(\w+)\s*$", Path(header).read_text(), re.MULTILINE)
    numbers = {name: int(nr) for name, nr in found}
    return numbers | {name: numbers[other] for name, other in aliases if other in numbers}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_numbers_are_those_of_the_headers(architecture: str) -> None:
    header = next((h for h in HEADERS[architecture] if Path(h).exists()), None)
    if header is None:
        pytest.skip(f"no kernel header for {architecture}")
    real = numbers_in(header)
    assert len(real) > 250
    for name in NUMBERS:
        assert number(name, architecture) == real.get(name), name


def decide(program: list[Instruction], arch: int, nr: int, *arguments: int) -> int:
    """What the kernel would answer: the few instructions of BPF that the filters use."""
    data = [nr, arch, 0, 0, *(half for a in arguments for half in (a & 0xFFFFFFFF, a >> 32))] + [0] * 12
    accumulator, at = 0, 0
    while True:
        code, then, otherwise, k = program[at]
        at += 1
        match code:
            case 0x20:
                accumulator = data[k // 4]
            case 0x54:
                accumulator &= k
            case 0x15:
                at += then if accumulator == k else otherwise
            case 0x35:
                at += then if accumulator >= k else otherwise
            case 0x06:
                return k
            case _:
                raise AssertionError(f"unknown instruction {code:#x}")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("opening", [True, False])
def test_a_child_may_do_what_the_list_says_and_nothing_else(architecture: str, opening: bool) -> None:
    arch, program = AUDIT_ARCH[architecture], child_filter(architecture, opening)

    def answer(name: str, *arguments: int) -> int:
        nr = number(name, architecture)
        assert nr is not None
        return decide(program, arch, nr, *arguments)

    allowed = {number(name, architecture) for name in CHILD}
    special = {number(n, architecture) for n in ("openat", "open", "ioctl", "fcntl", "clone", "clone3", "prlimit64")}
    for nr in range(1000):
        if nr not in special:
            assert decide(program, arch, nr) == (ALLOW if nr in allowed else 0x50000 | errno.EPERM)
    assert decide(program, arch ^ 1, 0) == KILL
    assert answer("openat", 0, 0, 0o100000) == (ALLOW if opening else 0x50000 | errno.EACCES)
    for flag in (0o1, 0o2, 0o100, 0o1000, 0o2000, 0o10000000, 0o20000000):
        assert answer("openat", 0, 0, flag) != ALLOW
    assert answer("clone", THREAD) == ALLOW
    assert answer("clone", 17) != ALLOW
    assert answer("clone3") == 0x50000 | errno.ENOSYS
    assert answer("prlimit64", 0) == ALLOW
    assert answer("prlimit64", 1) != ALLOW
    assert answer("fcntl", 0, 1030) == ALLOW
    assert answer("fcntl", 0, 8) != ALLOW  # F_SETOWN
    assert answer("ioctl", 0, 0x5401) == 0x50000 | errno.ENOTTY
    assert answer("ioctl", 0, 0x5412) != ALLOW  # TIOCSTI
    if architecture == "x86_64":
        assert decide(program, arch, 0x40000000 | 1) != ALLOW


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_server_may_do_more_than_a_child_but_not_everything(architecture: str) -> None:
    arch, program = AUDIT_ARCH[architecture], server_filter(architecture)
    for name in SERVER:
        if (nr := number(name, architecture)) is not None:
            assert decide(program, arch, nr) == ALLOW, name
    for nr in (59, 101, 62, 41) if architecture == "x86_64" else (221, 117, 129, 198):  # execve ptrace kill socket
        assert decide(program, arch, nr) != ALLOW
