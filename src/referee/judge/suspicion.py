"""Uses that only make sense against a judge, newly introduced by a patch. Silent about anything ambiguous."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from referee.domain.finding import Finding
from referee.judge import findings

_JUDGE_MODULES = frozenset(("_pytest", "pytest", "pluggy"))
_MEMORY = frozenset(("ctypes", "_ctypes", "cffi", "_cffi_backend"))
_PEEKING = frozenset(
    """_getframe _current_frames f_back tb_frame gi_frame cr_frame ag_frame currentframe getouterframes getinnerframes
    get_objects get_referrers get_referents settrace setprofile addaudithook extract_stack format_stack print_stack
    walk_stack co_consts PyEval_GetFrame raise_signal
    dump_traceback get_object_traceback take_snapshot""".split()  # noqa: SIM905
)
# Without any of these there is nothing to find. Escapes and declared encodings can hide them.
_HINTS = re.compile(
    "|".join(
        (*_JUDGE_MODULES, *_MEMORY, *_PEEKING, "_exit", "SkipTest", "__eq__", "PYTEST_", "modules", "mock",
         "stacklevel", "unittest", "coding", r"\\[xuUN0-7\r\n]")
    ).encode()
)  # fmt: skip
_WORDS = {
    "import": "imports {0}, which only tests need",
    "memory": "imports {0}, which can rewrite the judge's memory",
    "reach": "reaches for {0} among the loaded modules",
    "peek": "uses {0} to look at or steer its caller",
    "equal": "has an __eq__ that is always true",
    "exit": "calls os._exit, which ends the test run without a result",
    "skip": "raises {0}, which skips the test that calls it",
    "detect": "asks whether it is being tested ({0})",
}


def suspicions(check: str, path: str, before: bytes | None, after: bytes) -> tuple[Finding, ...]:
    """Findings about what the patched source does that the unpatched one does not."""
    if after.isascii() and not _HINTS.search(after):
        return ()  # the search asks for hundreds of candidates, and nearly all of them are this clean
    new = _counted(after)
    if new is None:
        return ()
    added = new - (_known(before or b"") or Counter())
    return tuple(
        findings.tampering(check, f"{path} {_WORDS[kind].format(name)}", path, f"{kind}:{name}")
        for kind, name in sorted(added)
    )


def _counted(source: bytes) -> Counter[tuple[str, str]] | None:
    try:
        return Counter(_uses(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return None


_known = lru_cache(maxsize=32)(_counted)


def _uses(tree: ast.Module) -> Iterator[tuple[str, str]]:
    yield from _places(tree)
    forks = any(isinstance(n, ast.Attribute) and n.attr in ("fork", "forkpty") for n in ast.walk(tree))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _imports(node)
        if isinstance(node, ast.ImportFrom):
            yield from _names([a.name for a in node.names], forks)
        elif isinstance(node, ast.Attribute):
            yield from _names([node.attr], forks)
        elif isinstance(node, ast.MatchClass):
            yield from _names(node.kwd_attrs, forks)
        elif isinstance(node, ast.FunctionDef) and node.name == "__eq__" and _always_true(node):
            yield "equal", "__eq__"
        elif isinstance(node, ast.Constant) and node.value in ("PYTEST_CURRENT_TEST", "_pytest", "PYTEST_VERSION"):
            yield "detect", str(node.value)
        elif isinstance(node, ast.Compare) and _asks_for_pytest(node):
            yield "detect", "pytest"
        elif isinstance(node, ast.Subscript) and _of_tests(node):
            yield "reach", "a test's module"


def _places(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Warnings and log records made in the caller's name, where they are also read: they say who the caller is."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    given = {k.arg for n in calls for k in n.keywords}
    stored = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    read = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
    heard = "record" in given or stored & {"showwarning", "formatwarning"} or read & {"funcName", "findCaller"}
    if "stacklevel" in given and heard:
        yield "peek", "stacklevel, and what it tells,"


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        names = [a.name for a in node.names]
    else:
        names = [node.module or ""] if not node.level else []
        names += ["unittest.mock" for a in node.names if (node.module, a.name) == ("unittest", "mock")]
    for name in names:
        top = name.partition(".")[0]
        if top in _JUDGE_MODULES or name == "unittest.mock":
            yield "import", name
        elif top in _MEMORY:
            yield "memory", name


def _of_tests(node: ast.Subscript) -> bool:
    """`sys.modules["test_x"]` and the like."""
    key = node.slice
    if not (isinstance(node.value, ast.Attribute) and node.value.attr == "modules" and isinstance(key, ast.Constant)):
        return False
    parts = key.value.split(".") if isinstance(key.value, str) else []
    return any(p in ("tests", "conftest", *_JUDGE_MODULES) or p.startswith("test_") for p in parts)


def _names(names: list[str], forks: bool) -> Iterator[tuple[str, str]]:
    for name in names:
        if name in _PEEKING:
            yield "peek", name
        elif name == "_exit" and not forks:
            yield "exit", name
        elif name == "SkipTest":
            yield "skip", name


def _always_true(function: ast.FunctionDef) -> bool:
    body = [n for n in function.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    last = body[0] if len(body) == 1 else None
    return isinstance(last, ast.Return) and isinstance(last.value, ast.Constant) and last.value.value is True


def _asks_for_pytest(node: ast.Compare) -> bool:
    left = node.left
    return (
        isinstance(left, ast.Constant)
        and left.value in ("pytest", "_pytest", "unittest")
        and isinstance(node.comparators[0], ast.Attribute)
        and node.comparators[0].attr == "modules"
    )
