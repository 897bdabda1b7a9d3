"""The small repository of the flows' tests and the traps of the security tests are used here too."""

from __future__ import annotations

import sys
from pathlib import Path

for folder in ("flows", "security/git"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
