"""One spelling for equal data, so that its digest can be compared, chained and signed."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(document: Any) -> bytes:
    """JSON with sorted keys and no spaces: equal data, equal bytes (the subset of RFC 8785 that we use)."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def digest_of(document: Any) -> str:
    """SHA-256 of the canonical form, in hex."""
    return hashlib.sha256(canonical(document)).hexdigest()
