"""Access that nobody can follow by reading: what `integrity = "strict"` refuses where a proposal newly brings it.

None of it is wrong as such. But whoever forges a verdict from within needs one of these ways to frames, modules or
memory, so in the strict tier a person must allow them.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from referee.domain.finding import Finding, FindingKind

_BY_NAME = frozenset(("getattr", "setattr", "delattr", "hasattr"))
_EVALUATES = frozenset(
    "eval exec compile __import__ globals locals vars breakpoint __builtins__ __loader__ __spec__".split()  # noqa: SIM905
)
_MODULES = frozenset(
    """ctypes _ctypes cffi _cffi_backend gc inspect importlib runpy pkgutil imp code codeop dis marshal pickle _pickle
    shelve copyreg traceback builtins unittest pytest _pytest pluggy doctest pydoc timeit cProfile profile pstats trace
    bdb pdb faulthandler tracemalloc _thread _frozen_importlib signal atexit linecache sysconfig
    zipimport subprocess multiprocessing pty posix _posixsubprocess""".split()  # noqa: SIM905
)
_ATTRIBUTES = frozenset(
    """__dict__ __globals__ __code__ __closure__ __builtins__ __subclasses__ __mro__ __bases__ __base__ mro
    __getattribute__ __traceback__ __self__ __func__ __wrapped__ __loader__ __spec__ __defaults__ __kwdefaults__
    __reduce__ __reduce_ex__ __match_args__ __instancecheck__ __subclasshook__ with_traceback
    tb_frame tb_next tb_lasti tb_lineno gi_frame gi_code cr_frame cr_code ag_frame ag_code cell_contents
    attrgetter methodcaller FunctionType CodeType MethodType FrameType TracebackType CellType
    get_field Formatter get_stack print_stack get_type_hints catch_warnings showwarning formatwarning
    create_subprocess_exec create_subprocess_shell
    findCaller funcName excepthook unraisablehook settrace setprofile finalize""".split()  # noqa: SIM905
)
_FRAMES = re.compile(r"f_(?:back|code|locals|globals|builtins|trace|lineno|lasti)\Z|co_\w+\Z")
_OF_SYS = frozenset(
    """modules meta_path path path_hooks path_importer_cache exc_info exception last_traceback last_exc last_value
    last_type audit addaudithook settrace setprofile gettrace getprofile displayhook monitoring _getframe
    _current_frames _current_exceptions _getframemodulename call_tracing""".split()  # noqa: SIM905
)
_OF_OS = frozenset(
    """system popen fork forkpty execv execve execvp execvpe execl execle execlp spawnv spawnve spawnvp spawnl spawnlp
    posix_spawn posix_spawnp _exit abort kill killpg""".split()  # noqa: SIM905
)
_HOLDERS = {"sys": _OF_SYS, "os": _OF_OS}
_REACHING = re.compile(
    r"\{[^{}]*\.(?:_|tb_|f_|gi_|cr_|ag_|co_)|%\((?:funcName|lineno|pathname)\)|\{(?:funcName|lineno)"
)
_WORDS = (
    '{path} uses {what}; integrity = "strict" lets a proposal bring that only if a person signs for it, and there is '
    "no signing yet: do it without, or name plainly what is meant"
)


def dynamic(check: str, path: str, before: bytes | None, after: bytes) -> tuple[Finding, ...]:
    """A finding for each dynamic access that the patched source has and the unpatched one does not."""
    try:
        new = Counter(_uses(ast.parse(after)))
    except (SyntaxError, ValueError, RecursionError):
        return ()  # it cannot run either
    try:
        old = Counter(_uses(ast.parse(before or b"")))
    except (SyntaxError, ValueError, RecursionError):
        old = Counter()
    return tuple(
        Finding(
            kind=FindingKind.UNAUTHORISED, check=check, id=path, path=path, rule="dynamic access", error="dynamic",
            message=_WORDS.format(path=path, what=what),
        )
        for what in sorted(new - old)
    )  # fmt: skip


def _uses(tree: ast.Module) -> Iterator[str]:
    plain = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    called = {id(n.func): n for n in ast.walk(tree) if isinstance(n, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _imports(node)
        elif isinstance(node, ast.Name):
            yield from _names(node, called.get(id(node)), id(node) in plain)
        elif isinstance(node, ast.Attribute):
            yield from _attributes(node)
        elif isinstance(node, ast.MatchClass):
            yield from (f"the pattern of {a}" for a in node.kwd_attrs if _closed(a))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and _closed(node.name):
            yield f"a {node.name} of its own"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _REACHING.search(node.value):
            yield "a format that reaches into an object"


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = [a.name for a in node.names]
        yield from (f"the module {a.name} as {a.asname}" for a in node.names if a.name in _HOLDERS and a.asname)
    else:
        names = [node.module or ""] if not node.level else []
        closed = _HOLDERS.get(names[0] if names else "", frozenset())
        yield from (
            f"{node.module}.{a.name}"
            for a in node.names
            if a.name in closed or (closed and a.name == "*") or _closed(a.name)
        )
    yield from (f"the module {n}" for n in names if n.partition(".")[0] in _MODULES)


def _names(node: ast.Name, call: ast.Call | None, plain: bool) -> Iterator[str]:
    name = node.id
    if name in _EVALUATES or _closed(name):
        yield name
    elif name in _HOLDERS and isinstance(node.ctx, ast.Load) and not plain:
        yield f"the module {name} as a value"
    elif name in _BY_NAME:
        wanted = call.args[1] if call is not None and len(call.args) > 1 else None
        if call is None:
            yield f"{name} as a value"
        elif not (isinstance(wanted, ast.Constant) and isinstance(wanted.value, str)):
            yield f"{name} with a computed name"
        elif _closed(wanted.value):
            yield f"{name} of {wanted.value}"


def _attributes(node: ast.Attribute) -> Iterator[str]:
    if _closed(node.attr):
        yield node.attr
    elif isinstance(node.value, ast.Name) and node.attr in _HOLDERS.get(node.value.id, ()):
        yield f"{node.value.id}.{node.attr}"
    elif node.attr == "__class__" and not isinstance(node.ctx, ast.Load):
        yield "an assignment to __class__"


def _closed(name: str) -> bool:
    return name in _ATTRIBUTES or _FRAMES.match(name) is not None
