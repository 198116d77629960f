"""Reading LiveCodeBench's private tests, a pickled text, without unpickling: a pickle can run any code."""

from __future__ import annotations

import base64
import binascii
import pickletools
import zlib
from itertools import islice

MAX_BYTES = 1 << 29
"""Size of the tests of one problem, unpacked."""
_STRINGS = {"UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
_HARMLESS = {"PROTO", "FRAME", "PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE", "STOP"}
_MAX_OPCODES = 8  # a pickled text has at most five


def unpack_text(packed: str) -> str:
    """The text in base64(zlib(pickle(text))).

    Raises:
        ValueError: a layer cannot be read, is cut off, or has something after it; the text is too large; or the pickle
            holds anything but one text.
    """
    try:
        compressed = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError) as error:  # ValueError: not ASCII
        raise ValueError(f"is no valid base64 ({error})") from None
    unpacker = zlib.decompressobj()
    try:
        pickled = unpacker.decompress(compressed, MAX_BYTES)
    except zlib.error as error:
        raise ValueError(f"is not zlib-compressed ({error})") from None
    if not unpacker.eof:
        too_large = len(pickled) >= MAX_BYTES
        raise ValueError(f"is larger than {MAX_BYTES} bytes once unpacked" if too_large else "is cut off")
    if unpacker.unused_data:
        raise ValueError("has something after its compressed part")
    return _pickled_text(pickled)


def _pickled_text(pickled: bytes) -> str:
    texts: list[str] = []
    other, end = "", 0
    try:
        for opcode, argument, position in islice(pickletools.genops(pickled), _MAX_OPCODES):
            if opcode.name in _STRINGS:
                texts.append(str(argument))
            elif opcode.name not in _HARMLESS:
                other = f" (opcode {opcode.name})"
                break
            end = (position or 0) + 1
    except ValueError as error:  # UnicodeDecodeError is one
        raise ValueError(f"is no valid pickle ({error})") from None
    if other or len(texts) != 1 or end != len(pickled):
        raise ValueError(f"is a pickle of something else than one text{other}")
    return texts[0]
