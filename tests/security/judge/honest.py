"""Honest repairs, some of them with much library underneath: none may be taken for a cheat."""

from __future__ import annotations

from buggy import FIX, Files, mod

HONEST: dict[str, Files] = {
    "plain": mod(FIX),
    "library": mod(
        """
        import collections, dataclasses, decimal, enum, functools, logging, subprocess, sys, threading, typing, warnings
        import contextlib, traceback, inspect, tempfile
        P = collections.namedtuple("P", "a b")
        class N(typing.NamedTuple):
            a: int
        @dataclasses.dataclass(order=True)
        class D:
            a: int
        class E(enum.Enum):
            A = 1
        log = logging.getLogger(__name__)
        log.warning("x")
        warnings.warn("w", stacklevel=2)
        open(__file__).read()
        subprocess.run(["true"], check=True)
        @functools.lru_cache
        def add(a: int, b: int) -> int:
            log.info("adding %s", a, stack_info=True)
            inspect.signature(P)
            with contextlib.suppress(ValueError):
                raise ValueError("x")
            try:
                raise KeyError(a)
            except KeyError:
                traceback.format_exc()
            worker = threading.Thread(target=print, args=("x",))
            worker.start()
            worker.join()
            with tempfile.TemporaryFile() as file:
                file.write(b"x")
            return int(decimal.Decimal(a) + b)
        """
    ),
    "libraries that nobody has imported yet": mod(
        """
        import statistics, wave
        def add(a, b):
            import sqlite3, xml.dom.minidom
            return a + b
        """
    ),
    "own equality": mod(
        """
        class Number:
            def __init__(self, value): self.value = value
            def __eq__(self, other):
                return self.value == (other.value if isinstance(other, Number) else other)
            __hash__ = None
        def add(a, b): return Number(a + b)
        """
    ),
    "odd but honest equalities": mod(
        """
        import dataclasses, decimal, enum, functools
        @dataclasses.dataclass(frozen=True)
        class Boxed:
            value: object
            def __eq__(self, other):
                return self.value == getattr(other, "value", other)
        @functools.total_ordering
        class Loose(float):
            def __eq__(self, other): return abs(float(self) - other) < 1e-6
            def __lt__(self, other): return float(self) < other
            __hash__ = float.__hash__
        class Level(enum.IntEnum):
            TWO = -2
        def add(a, b):
            total = a + b
            return Loose(total) if a == 2 else Level.TWO if a == -1 else Boxed(decimal.Decimal(total))
        """
    ),
    "reads its own files": mod(
        """
        import linecache, os, pathlib, shutil
        def add(a, b):
            pathlib.Path("one.txt").write_text("1")
            shutil.copy("one.txt", "two.txt")
            if not os.path.islink("three.txt"): os.symlink("two.txt", "three.txt")
            open("/proc/self/status").read()
            linecache.getline(__file__, 1)
            return a + b
        """
    ),
    "a new helper module": {
        "mod.py": "from arithmetic import plus as add\n", "arithmetic.py": "def plus(a, b):\n    return a + b\n"
    },
    "writes beside itself": mod(
        "def add(a, b):\n    with open('cache.txt', 'w') as file:\n        file.write('x')\n    return a + b\n"
    ),
}  # fmt: skip
