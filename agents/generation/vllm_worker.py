"""What runs beside the engine's model, in whichever process that is: it takes new weights."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterable
from typing import Any

import torch
from safetensors.torch import load_file


class WeightLoader:
    """Methods that vLLM adds to its worker (`worker_extension_cls`), for `collective_rpc`."""

    def die_with(self: Any, trainer: int) -> None:
        """End the engine's processes when the process with this id ends, even by SIGKILL: they hold the device."""
        engine, handle = os.getppid(), os.pidfd_open(trainer)

        def wait() -> None:
            select.select([handle], [], [])
            if engine not in (1, trainer):
                os.kill(engine, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

        threading.Thread(target=wait, name="trainer-watch", daemon=True).start()

    def take_policy_weights(self: Any, weights: Iterable[tuple[str, torch.Tensor]] | str) -> None:
        """Load weights (name, tensor), or those of a safetensors file, and renew what was made from the old ones."""
        self.reload_weights(weights_iterator=load_file(weights).items() if isinstance(weights, str) else weights)
        # The CPU build multiplies by a packed copy of the output head. Loading renews it for a head with weights of its
        # own, not for one that is tied to the embedding.
        head = getattr(self.get_model(), "lm_head", None)
        method = getattr(head, "quant_method", None)
        if method is not None and hasattr(method, "process_weights_after_loading"):
            method.process_weights_after_loading(head)
