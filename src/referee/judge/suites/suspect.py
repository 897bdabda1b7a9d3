"""What a patch brings into code of other languages that only makes sense against a judge; and tests within sources.

Nothing is parsed: comments and strings are blanked first, and only names that no program needs are looked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from referee.domain.finding import Finding, FindingKind
from referee.domain.patch import FileChange
from referee.judge import findings

_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_COMMENT, _DOUBLE = r"//[^\n]*|/\*.*?\*/", r'"(?:\\.|[^"\\\n])*"'
_TEXT = {
    "js": re.compile(rf"{_COMMENT}|{_DOUBLE}|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`", re.DOTALL),
    "rs": re.compile(rf"""{_COMMENT}|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\[^'\n]+|[^'\\\n])'""", re.DOTALL),
    "go": re.compile(rf"{_COMMENT}|{_DOUBLE}|'(?:\\[^'\n]+|[^'\\\n])'|`[^`]*`", re.DOTALL),
}
_QUOTED = re.compile(r"""(["'`])((?:\\.|(?!\1)[^\\\n])*)\1""")
_NAMES = {
    "js": re.compile(
        r"\b(?:NODE_TEST_CONTEXT|VITEST(?:_\w+)?|JEST_WORKER_ID|__vitest_\w+|reallyExit|_linkedBinding|"
        r"import\.meta\.vitest|process\.binding|process\.ppid|getCurrentTest)\b"
    ),
    "rs": re.compile(r"\bcfg!?\s*\(\s*(?:not\s*\(\s*)?test\b|\b_exit\b|\bzzzz_referee\w*"),
    "go": re.compile(
        r"\b(?:syscall\.(?:Exit|Kill|Exec|RawSyscall\w*)|testing\.(?:Testing|Init|MainStart)|runtime\.Goexit)\b"
    ),
}
_STRINGS = {
    "js": re.compile(
        r"^(?:node:test|node:inspector|inspector|vitest(?:/.*)?|@jest/.*|@vitest/.*|NODE_TEST_CONTEXT|VITEST.*|JEST_WORKER_ID)$|/proc/(?:self|\d|\$)|^--test"
    ),
    "rs": re.compile(r"^test result: |/proc/(?:self|\d|\{)|^RUST_TEST"),
    "go": re.compile(r"^--- (?:PASS|FAIL)|^testing$|\btest\.(?:v|run|timeout)\b|/proc/(?:self|\d|%)|^go:linkname"),
}
_LINKNAME = re.compile(r"^//go:linkname\b", re.MULTILINE)


def _language(path: str) -> str:
    if path.endswith(_SCRIPTS):
        return "js"
    return path.rpartition(".")[2] if path.endswith((".rs", ".go")) else ""


def suspect(check: str, change: FileChange, before: bytes | None) -> tuple[Finding, ...]:
    """Findings about what the patched text does that the unpatched one does not."""
    language = _language(change.path)
    if not language or change.after is None:
        return ()
    added = Counter(_uses(language, change.after.data)) - Counter(_uses(language, before or b""))
    return tuple(
        findings.tampering(
            check, f"{change.path} uses {what!r}, which only matters to what judges it", change.path, what
        )
        for what in sorted(added)
    )


def _uses(language: str, data: bytes) -> Iterator[str]:
    text = data.decode("utf-8", "replace")
    if language == "go":
        yield from _LINKNAME.findall(text)
    bare = _TEXT[language].sub(lambda m: "" if m[0].startswith("/") else m[0], text)
    yield from (m[0] for m in _NAMES[language].finditer(_TEXT[language].sub(" ", text)))
    yield from (m[2] for m in _QUOTED.finditer(bare) if _STRINGS[language].search(m[2]))


def lost_tests(check: str, change: FileChange, before: bytes | None) -> tuple[Finding, ...]:
    """A finding if a Rust source no longer holds a test, a test module or an example of its documentation as it was."""
    if not change.path.endswith(".rs") or before is None:
        return ()
    after = b"" if change.after is None else change.after.data
    lost = Counter(_demands(before)) - Counter(_demands(after))
    if not lost:
        return ()
    first = min(lost).strip().partition("\n")[0]
    return (
        Finding(
            kind=FindingKind.UNAUTHORISED, check=check, id=change.path, path=change.path, rule="tests within",
            message=f"{change.path} holds tests of its own, and they are not the author's to change: keep what begins "
            f"with {first!r} as it is",
        ),
    )  # fmt: skip


_MARKED = re.compile(r"#\[(?:cfg\(test\)|(?:\w+::)*test(?:\([^\]]*\))?)\]")
_FENCED = re.compile(r"^[ \t]*//[/!] ?```.*?^[ \t]*//[/!] ?```[ \t]*$", re.MULTILINE | re.DOTALL)


def _demands(data: bytes) -> Iterator[str]:
    text = data.decode("utf-8", "replace")
    yield from (m[0] for m in _FENCED.finditer(text))
    blank = _TEXT["rs"].sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    end = 0
    for mark in _MARKED.finditer(blank):
        if mark.start() >= end:
            end = _item_end(blank, mark.end())
            yield text[mark.start() : end]


def _item_end(text: str, at: int) -> int:
    """Where the item that begins at `at` ends: at its closing brace, or at a semicolon before any brace."""
    depth = 0
    for n in range(at, len(text)):
        if text[n] in "{":
            depth += 1
        elif text[n] == "}":
            depth -= 1
            if depth == 0:
                return n + 1
        elif text[n] == ";" and depth == 0:
            return n + 1
    return len(text)
