"""A key-value cache that grows in place.

The stock dynamic layer concatenates at every token, which copies the whole cache; on a CPU that is most of the time of
a decoding step. This one writes into a buffer with room to spare.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache, PretrainedConfig
from transformers.cache_utils import DynamicLayer

ROOM = 64  # tokens that are added when the buffer is full


class GrowingLayer(DynamicLayer):
    """A `DynamicLayer` whose keys and values are views of larger buffers."""

    _key_buffer: torch.Tensor | None = None
    _value_buffer: torch.Tensor | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append states (rows, heads, tokens, dim); returns all keys and values so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        old = self.get_seq_length()
        new = old + key_states.shape[-2]
        self._key_buffer, self.keys = _append(self._key_buffer, self.keys, key_states, old, new)
        self._value_buffer, self.values = _append(self._value_buffer, self.values, value_states, old, new)
        return self.keys, self.values

    # What follows replaces the keys and values, so that the buffers no longer stand behind them.

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        self._key_buffer = self._value_buffer = None

    def reorder_cache(self, beam_idx: torch.LongTensor) -> None:
        super().reorder_cache(beam_idx)
        self._key_buffer = self._value_buffer = None

    def batch_repeat_interleave(self, repeats: int) -> None:
        super().batch_repeat_interleave(repeats)
        self._key_buffer = self._value_buffer = None

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        super().batch_select_indices(indices)
        self._key_buffer = self._value_buffer = None


def _append(
    buffer: torch.Tensor | None, states: torch.Tensor | None, added: torch.Tensor, old: int, new: int
) -> tuple[torch.Tensor, torch.Tensor]:
    if buffer is None or buffer.shape[2] < new:
        buffer = added.new_empty((*added.shape[:2], new + ROOM, added.shape[3]))
        if states is not None and old:
            buffer[:, :, :old] = states
    buffer[:, :, old:new] = added
    return buffer, buffer[:, :, :new]


def growing_cache(config: PretrainedConfig) -> DynamicCache:
    """A cache for this model: plain attention layers grow in place, special ones (sliding window ...) are stock."""
    cache = DynamicCache(config=config)
    cache.layers = [GrowingLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache
