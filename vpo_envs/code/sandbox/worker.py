"""One worker: the supervisor's end of a fork server. Starts it, hands it what its children get, reads its reports."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vpo_envs.code.sandbox.inside.frames import REPLY, SPAWN
from vpo_envs.code.sandbox.limits import SandboxError

if TYPE_CHECKING:
    from vpo_envs.code.sandbox.child_process import ChildProcess

_STACK = 256 << 20  # of the main thread; the kernel fixes its place when the interpreter is executed
_START_SECONDS = 60.0
_FLAGS = ("-s", "-P", "-S", "-B", "-X", "utf8")  # -I, but for the one variable below
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}  # sets are printed in the same order each time
_RAISE_STACK = (
    "import os, resource as r, sys; s = int(sys.argv[1]); h = r.getrlimit(r.RLIMIT_STACK)[1]; "
    "s = s if h == r.RLIM_INFINITY else min(s, h); r.setrlimit(r.RLIMIT_STACK, (s, h)); "
    "os.execve(sys.argv[2], sys.argv[2:], dict(os.environ))"
)
_SERVE = (  # modules must not ask to be run after a fork: there are no threads, and it would cost 0.4 ms each time
    "import json, os, sys; os.register_at_fork = lambda **functions: None; "
    "sys.path.insert(0, sys.argv[1]); from inside.fork_server import main; del sys.path[0]; "
    "[sys.modules.pop(m) for m in list(sys.modules) if m.split('.')[0] == 'inside']; "
    "main(int(sys.argv[2]), json.loads(sys.argv[3]))"
)


class WorkerDied(Exception):
    """The fork server is gone."""


class Reply(NamedTuple):
    """What a fork server reports of a child (`inside/frames.py`)."""

    kind: int
    token: int
    value: int
    seconds: float
    pidfd: int | None


class Worker:
    """A fork server. Not safe for threads."""

    def __init__(self, without: Collection[str] = (), python: str = sys.executable) -> None:
        """`without`: layers that the fork server must pretend to lack; for tests."""
        self.without, self.python = sorted(without), python
        self.layers: dict[str, Any] = {}
        """What the fork server reports about itself, see `report.py`."""
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._errors = -1
        self._tokens = 0
        self.children: dict[int, ChildProcess] = {}
        """Children by token, until their end is reported."""

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def fileno(self) -> int:
        assert self._socket is not None
        return self._socket.fileno()

    @property
    def alive(self) -> bool:
        """Whether the fork server runs, as far as can be seen."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the fork server; `wait` for it before it is used."""
        self.close()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._errors = os.memfd_create("errors")
        config = json.dumps({"parent": os.getpid(), "without": self.without})
        inside = str(Path(__file__).resolve().parent)
        serve = [self.python, *_FLAGS, "-c", _SERVE, inside, str(theirs.fileno()), config]
        self._process = subprocess.Popen(
            [self.python, *_FLAGS, "-c", _RAISE_STACK, str(_STACK), *serve],
            env=_ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,  # an interrupt from the keyboard is for the supervisor
        )
        theirs.close()
        self._socket = ours

    def wait(self) -> None:
        """Wait until the fork server has locked itself and passed its self-test. Raises SandboxError."""
        assert self._socket is not None
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        message = self._socket.recv(1 << 16) if poll.poll(1000 * _START_SECONDS) else b""
        if not message:
            size = os.fstat(self._errors).st_size
            errors = os.pread(self._errors, 4000, max(0, size - 4000)).decode(errors="replace").strip()
            self.close()
            raise SandboxError(f"the sandbox's fork server did not start: {errors or 'no answer'}")
        self.layers = json.loads(message)

    def spawn(
        self, child: ChildProcess, descriptors: list[int], first: int, seconds: int, memory: int, largest: int
    ) -> None:
        """Ask for a child (`inside/frames.py`, SPAWN). Raises WorkerDied."""
        assert self._socket is not None
        self._tokens = (self._tokens + 1) % (1 << 32)
        try:
            socket.send_fds(self._socket, [SPAWN.pack(self._tokens, first, seconds, memory, largest)], descriptors)
        except OSError as error:
            raise WorkerDied from error
        self.children[self._tokens] = child

    def receive(self) -> Reply:
        """The next report; waits for it. Raises WorkerDied."""
        assert self._socket is not None
        try:
            message, descriptors, _, _ = socket.recv_fds(self._socket, REPLY.size, 1, socket.MSG_CMSG_CLOEXEC)
        except OSError as error:
            raise WorkerDied from error
        if len(message) != REPLY.size:
            raise WorkerDied
        kind, token, value, microseconds = REPLY.unpack(message)
        return Reply(kind, token, value, microseconds / 1e6, descriptors[0] if descriptors else None)

    def close(self) -> None:
        """End the fork server and with it its children."""
        for child in self.children.values():
            child.close()
        self.children.clear()
        if self._socket is not None:
            self._socket.close()
        if self._errors >= 0:
            os.close(self._errors)
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self._process, self._socket, self._errors = None, None, -1

    def forget(self) -> None:
        """Let go of a fork server that belongs to the process from which this one was forked."""
        if self._socket is not None:
            self._socket.close()
        if self._errors >= 0:
            os.close(self._errors)
        if self._process is not None:
            self._process.returncode = 0  # else Popen would wait for it
        self._process, self._socket, self._errors = None, None, -1
