"""A finding in words: what it is about, where, and how many more there are of its kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from referee.domain.finding import Finding, FindingKind, Frame

_IDS = 4  # of a group that are named


def placed(finding: Finding) -> bool:
    """Whether a compiler or a linter says it of a place; one sentence of theirs may be said of many."""
    if finding.kind is not FindingKind.FAILURE or finding.phase or not finding.path:
        return False
    return bool(finding.rule) or not finding.error


def heading(group: Sequence[Finding]) -> str:
    """The example's title, with how many there are of its kind and which."""
    first = group[0]
    if len(group) == 1:
        return title(first)
    others = list(dict.fromkeys(f.id for f in group if f.id != first.id))
    named = ", ".join(short(i) for i in others[: _IDS - 1])
    more = f" and {len(others) - _IDS + 1} more" if len(others) >= _IDS else ""
    return f"{len(group)}x {title(first)}" + (f"\n  also {named}{more}" if named else "")


def title(finding: Finding) -> str:
    """Its id or place, and what was said."""
    kind = "" if finding.kind is FindingKind.FAILURE else f"{finding.kind.value.replace('_', ' ').upper()} "
    phase = f" ({finding.phase})" if finding.phase not in ("", "call", "process") else ""
    if finding.phase:
        error = finding.error if finding.phase != "process" else "PROCESS DIED" if finding.error == "died" else ""
        return f"{kind}{finding.id}{phase}\n  {error + ': ' if error else ''}{_message(finding)}"
    line = f":{finding.line}" if finding.line else ""
    place = f"{finding.path}{line} " if finding.path else ""
    rule = f"[{finding.rule}] " if finding.rule else ""
    return f"{kind}{place}{rule}{_message(finding)}"


def where(finding: Finding) -> list[str]:
    """The project's own frames, else the one place that a title does not tell, a line for each."""
    if not finding.frames and finding.phase and finding.path and finding.line:
        return [f"  {finding.path}:{finding.line}"]
    return [_frame(f) for f in finding.frames]


def _frame(frame: Frame) -> str:
    function = f" in {frame.function}" if frame.function else ""
    source = f": {frame.source}" if frame.source else ""
    return f"  {frame.path}:{frame.line}{function}{source}" + (f"  (x{frame.repeats})" if frame.repeats > 1 else "")


def listed(group: Sequence[Finding], room: int) -> list[str]:
    """One row if all say the same, with the places; else a row for each, as long as there is room."""
    first = group[0]
    if len(group) == 1:
        return [clip(title(first), room)]
    same = len({f.message for f in group}) == 1
    rule = f" [{first.rule}]" if first.rule else ""
    head = clip(f"{len(group)}x{rule} {_message(first) if same else ''}".rstrip(), room)
    fitting = _rows(group, room - len(head) - 30, same)
    if len(fitting) < len(group):
        group = _spread(group)
        fitting = _rows(group, room - len(head) - 30, same)
    missing = group[len(fitting) :]
    files = len({f.path for f in missing})
    more = f"  and {len(missing)} more in {files} file{'' if files == 1 else 's'}"
    return [head, *(["  at " + ", ".join(fitting)] if same else fitting), *([more] if missing else [])]


def _rows(group: Sequence[Finding], room: int, same: bool) -> list[str]:
    """As many of the group's rows as there is room for, one at least."""
    rows: list[str] = []
    for finding in group:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        row = place if same else clip(f"  {place} {first_line(finding, 200)}", 260)
        room -= len(row) + 2
        if room < 0 and rows:
            break
        rows.append(row)
    return rows


def _spread(group: Sequence[Finding]) -> list[Finding]:
    """The first of each file, then the second of each, and so on."""
    turn: Counter[str] = Counter()
    numbered = []
    for n, finding in enumerate(group):
        numbered.append((turn[finding.path], n, finding))
        turn[finding.path] += 1
    return [finding for _, _, finding in sorted(numbered, key=lambda each: each[:2])]


def first_line(finding: Finding, width: int = 90) -> str:
    """How its message begins."""
    return finding.message.split("\n", 1)[0][:width]


def says_values(finding: Finding) -> bool:
    """Whether the message has both of what was compared."""
    return finding.actual in finding.message and finding.expected in finding.message


def short(test: str) -> str:
    """A test's own name."""
    return test.rpartition("::")[2][:60] or test[:60]


def clip(text: str, room: int) -> str:
    """Both ends of a text that is too long."""
    if len(text) <= room:
        return text
    mark = "\n  …cut…\n"
    keep = max(0, room - len(mark))
    first = int(keep * 0.7)
    return text[:first] + mark + text[len(text) - (keep - first) :]


def _message(finding: Finding) -> str:
    return clip(finding.message, 700)
