"""Frames to the judge outside: numbered, signed, and only from the process that read the key."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import threading
from collections.abc import Callable
from typing import Any

KEY, FRAMES = 3, 4  # descriptors given by the sandbox
Emit = Callable[[str, Any], None]


def connect() -> tuple[Emit, Callable[[str], str]]:
    """Take the key from its descriptor. Returns `emit(kind, body)` and `derive(label)`, a name only the key gives.

    Everything is bound in closures: a module attribute could be replaced by code under test.
    """
    key = b""
    while len(key) < 32:
        part = os.read(KEY, 32 - len(key))
        if not part:
            raise SystemExit("no key on descriptor 3: the judge's entry runs only under the judge")
        key += part
    os.close(KEY)
    os.set_inheritable(FRAMES, False)
    signer = hmac.new(key, digestmod=hashlib.sha256)
    write, dumps, getpid, lock = os.write, json.dumps, os.getpid, threading.RLock()
    owner, sent = getpid(), 0

    def sign(data: bytes) -> str:
        mac = signer.copy()
        mac.update(data)
        return mac.hexdigest()

    def emit(kind: str, body: Any) -> None:
        nonlocal sent
        if getpid() != owner:
            return  # a forked child of the code under test never speaks for the judge
        with lock:
            data = dumps([sent, kind, body]).encode("ascii")
            sent += 1
            left = memoryview(sign(data).encode("ascii") + b" " + data + b"\n")
            while left:
                left = left[write(FRAMES, left) :]

    def derive(label: str) -> str:
        return sign(b"name:" + label.encode("utf-8"))[:10]

    return emit, derive
