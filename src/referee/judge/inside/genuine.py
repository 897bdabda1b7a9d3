"""Code that is what a library's own file says: importing it is no trick, whoever asks for it first."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from .territory import Territory

_HEADER = 16  # bytes before the code in a cached file
_CHUNK = 1 << 20


def genuine(whose: Territory) -> Callable[[Any, types.FrameType], bool]:
    """Whether what is compiled or unmarshalled, given the event's arguments and frame, is the content of the library
    file that it claims to be. The content is compared with the file, so that it does not matter how it got here.
    """
    library, forbidden, read = whose.library, whose.forbidden, _reader()
    unpack: Any = vars(sys.modules["_frozen_importlib_external"])["_compile_bytecode"].__code__
    load: Any = importlib.machinery.SourceFileLoader.get_code
    # The judge may already stand before it, with the original in a cell.
    load = next((c.cell_contents for c in load.__closure__ or () if hasattr(c.cell_contents, "__code__")), load)
    code, kind, content, text = load.__code__, type, bytes, str

    def honest(args: Any, frame: Any) -> bool:
        given, path, header = args[0], "", 0
        if frame.f_code is unpack and frame.f_back is not None and frame.f_back.f_code is code:
            path, header = frame.f_back.f_locals.get("bytecode_path"), _HEADER
        elif len(args) > 1:
            path = args[1]
        if kind(path) is not text or kind(given) is not content:
            return False
        return library(path) and not forbidden(path) and given == read(path)[header:]

    return honest


def _reader() -> Callable[[str], bytes]:
    """The bytes of a file, by functions that nobody can replace."""
    opened, chunk, close, fault, flags, size = os.open, os.read, os.close, OSError, os.O_RDONLY | os.O_CLOEXEC, _CHUNK

    def read(path: str) -> bytes:
        data = b""
        try:
            descriptor = opened(path, flags)
        except fault:
            return data
        try:
            while part := chunk(descriptor, size):
                data += part
        finally:
            close(descriptor)
        return data

    return read
