"""What runs beside the engine's model, in whichever process that is: it takes new weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from safetensors.torch import load_file


class WeightLoader:
    """Methods that vLLM adds to its worker (`worker_extension_cls`), for `collective_rpc`."""

    def take_policy_weights(self: Any, weights: Iterable[tuple[str, torch.Tensor]] | str) -> None:
        """Load weights (name, tensor), or those of a safetensors file, and renew what was made from the old ones."""
        self.reload_weights(weights_iterator=load_file(weights).items() if isinstance(weights, str) else weights)
        # The CPU build multiplies by a packed copy of the output head. Loading renews it for a head with weights of its
        # own, not for one that is tied to the embedding.
        head = getattr(self.get_model(), "lm_head", None)
        method = getattr(head, "quant_method", None)
        if method is not None and hasattr(method, "process_weights_after_loading"):
            method.process_weights_after_loading(head)
