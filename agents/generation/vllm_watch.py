"""A death of the engine's process that is noticed: vLLM's client would wait for its answer for ever."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future, InvalidStateError
from multiprocessing import connection
from threading import Event, Thread
from typing import Any

EVERY = 0.5  # seconds


class ProcessWatch:
    """While it runs, whoever waits for a dead engine process gets a RuntimeError (vLLM 0.32 needs it after SIGKILL)."""

    def __init__(self, client: Any) -> None:
        """`client` is vLLM's `SyncMPClient`."""
        self._client = client
        self._sentinels = client.resources.engine_manager.sentinels()
        self._stopped = Event()
        Thread(target=self._run, name="vllm-process-watch", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            if connection.wait(self._sentinels, timeout=EVERY) and not self._stopped.is_set():
                # Again and again: a call may have started waiting just after the last time.
                self._fail_waiting_calls()
                self._stopped.wait(EVERY)

    def _fail_waiting_calls(self) -> None:
        error = RuntimeError("the engine's process has ended; its messages are above")
        if self._client.outputs_queue.empty():
            self._client.outputs_queue.put_nowait(error)
        waiting: list[Future[Any]] = list(self._client.utility_results.values())
        for future in waiting:
            with contextlib.suppress(InvalidStateError):  # it has been answered
                future.set_exception(error)
