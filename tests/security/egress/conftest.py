"""These tests use the sandbox contract's boxes and a made-up outside."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "contract")]
