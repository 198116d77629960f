"""Numbers of the system calls that the sandbox allows or makes itself, and which of its processes may make them."""

from __future__ import annotations

import os

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # linux/audit.h, as seccomp sees an architecture
ARCHITECTURES = tuple(AUDIT_ARCH)  # the columns below; asm/unistd_64.h and asm-generic/unistd.h of Linux
# fmt: off
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    # files and descriptors
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "preadv": (295, 69), "pwritev": (296, 70), "lseek": (8, 62), "close": (3, 57),
    "fstat": (5, 80), "newfstatat": (262, 79), "stat": (4, None), "lstat": (6, None), "statx": (332, 291),
    "ftruncate": (77, 46), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "getcwd": (79, 17),
    "getdents64": (217, 61), "ioctl": (16, 29), "fcntl": (72, 25), "open": (2, None), "openat": (257, 56),
    "close_range": (436, 436), "fsync": (74, 82), "poll": (7, None), "ppoll": (271, 73), "select": (23, None),
    "pselect6": (270, 72),
    # memory and threads
    "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216), "madvise": (28, 233),
    "brk": (12, 214), "futex": (202, 98), "set_robust_list": (273, 99), "set_tid_address": (218, 96),
    "rseq": (334, 293), "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "clone": (56, 220),
    "clone3": (435, 435), "exit": (60, 93), "exit_group": (231, 94),
    # signals and time
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101),
    "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153), "restart_syscall": (219, 128),
    "setitimer": (38, 103), "getitimer": (36, 102), "alarm": (37, None), "pause": (34, None),
    # facts about the process and the machine
    "getrusage": (98, 165), "sysinfo": (99, 179), "uname": (63, 160), "getpid": (39, 172), "getppid": (110, 173),
    "gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "getrandom": (318, 278), "prlimit64": (302, 261),
    # made by the fork server and, before it is locked, by the child
    "fork": (57, None), "prctl": (157, 167), "recvmsg": (47, 212), "sendmsg": (46, 211), "sendto": (44, 206),
    "wait4": (61, 260),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "capget": (125, 90), "capset": (126, 91),
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
}
CHILD = frozenset((  # what a program may do with any arguments
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "lseek", "close", "fstat",
    "newfstatat", "stat", "lstat", "statx", "ftruncate", "dup", "dup2", "dup3", "getcwd", "getdents64", "fsync",
    "poll", "ppoll", "select", "pselect6", "mmap", "munmap", "mprotect", "mremap", "madvise", "brk", "futex",
    "set_robust_list", "set_tid_address", "rseq", "sched_yield", "sched_getaffinity", "exit", "exit_group",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "clock_gettime", "clock_getres",
    "clock_nanosleep", "nanosleep", "gettimeofday", "time", "times", "restart_syscall", "setitimer", "getitimer",
    "alarm", "pause", "getrusage", "sysinfo", "uname", "getpid", "getppid", "gettid", "getuid", "geteuid", "getgid",
    "getegid", "getrandom",
))
SERVER = CHILD | {  # what the fork server, and a child until it is locked, may do besides
    "clone", "fork", "prctl", "recvmsg", "sendmsg", "sendto", "wait4", "pidfd_open", "pidfd_send_signal",
    "close_range", "prlimit64", "capget",
}
# fmt: on


def machine() -> str:
    """This machine's architecture, "x86_64" or "aarch64", or what else the system calls it."""
    name = os.uname().machine
    return {"arm64": "aarch64", "amd64": "x86_64"}.get(name, name)


def number(name: str, architecture: str | None = None) -> int | None:
    """The number of a system call, or None where the architecture has none of that name."""
    return NUMBERS[name][ARCHITECTURES.index(architecture or machine())]
