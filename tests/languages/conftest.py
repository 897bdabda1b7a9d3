"""The judge's lab and the flows' repositories are used here too."""

from __future__ import annotations

import sys
from pathlib import Path

for _folder in ("unit/judge", "flows"):
    sys.path.insert(0, str(Path(__file__).parents[1] / _folder))
