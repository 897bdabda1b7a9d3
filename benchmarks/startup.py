"""How long `referee --help` takes, beside a Python that does nothing: `python benchmarks/startup.py [repeats]`.

The bar is 200 ms on a machine at rest; the ratio is what can be compared between machines.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

BAR = 200.0  # milliseconds


def times(code: str, *args: str, repeats: int) -> list[float]:
    """Milliseconds of each start."""
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code, *args], stdout=subprocess.DEVNULL, check=True)
        found.append((time.perf_counter() - began) * 1000)
    return found


def main() -> None:
    """Measure in one run and print."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    nothing = times("pass", repeats=repeats)
    helped = times("from referee.cli import main; main()", "--help", repeats=repeats)
    best, floor = min(helped), min(nothing)
    print(f"python that does nothing: {floor:.0f} ms at best, {statistics.median(nothing):.0f} ms median")
    print(
        f"referee --help: {best:.0f} ms at best, {statistics.median(helped):.0f} ms median; {best / floor:.1f} times it"
    )
    print(f"bar {BAR:.0f} ms: {'kept' if best <= BAR else 'missed'}; load of the machine {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
