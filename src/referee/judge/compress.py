"""From findings to the text a model is given: one full example per root cause, the rest by count and name (D5)."""

from __future__ import annotations

from collections.abc import Sequence

from referee.domain.finding import Finding, FindingKind
from referee.domain.verdict import CheckResult, blocking
from referee.judge.normal import plain

CAP = 4_000
_CAUSES = 8  # told in full; the others in one line each
_EXAMPLE = 1_500  # characters of one cause at most
_ORDER = ("internal", "process", "collect", "setup", "call", "teardown")
_IDS = 4


def compress(results: Sequence[CheckResult], cap: int = CAP) -> str:
    """Everything that blocks, in at most `cap` characters. Nothing blocks: an empty string."""
    bad = [r for r in results if not r.clear]
    if not bad:
        return ""
    groups = _grouped([f for r in bad for f in blocking([r])])
    head = "\n".join(_headline(r) for r in bad)
    head = _clip(head, max(200, cap // 4))
    shown, others = groups[:_CAUSES], groups[_CAUSES:]
    tail = _others(others, cap // 5)
    room = cap - len(head) - len(tail) - 2 * len(shown) - 2
    blocks: list[str] = []
    for n, group in enumerate(shown):
        share = max(160, min(_EXAMPLE, room // (len(shown) - n)))
        block = _block(group, share)
        room -= len(block)
        blocks.append(block)
    return plain(_clip("\n\n".join([head, *blocks, *([tail] if tail else [])]), cap))


def _headline(result: CheckResult) -> str:
    causes = len({_key(f) for f in blocking([result])})
    name = f"{result.layer.value} {result.check}"
    if result.failed_ids or result.passed_ids:
        failing, passing = len(result.failed_ids), len(result.passed_ids)
        plural = "" if causes == 1 else "s"
        text = f"{name}: {failing} failing ({causes} root cause{plural}), {passing} passed"
    else:
        text = f"{name}: {result.state.value.replace('_', ' ')}"
        text += f", {len(result.findings)} findings" if len(result.findings) > 1 else ""
    if result.killed_by:
        return f"{text}, killed by {result.killed_by}"
    return text + (f", exit code {result.exit_code}" if result.exit_code is not None else "")


def _key(finding: Finding) -> tuple[str, str, str]:
    return (finding.kind, finding.check, finding.cause or finding.message)


def _grouped(found: Sequence[Finding]) -> list[list[Finding]]:
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault(_key(finding), []).append(finding)

    def rank(group: list[Finding]) -> tuple[bool, int, int]:
        first = group[0]
        phase = _ORDER.index(first.phase) if first.phase in _ORDER else len(_ORDER)
        return (first.kind is not FindingKind.TAMPER, phase, -len(group))

    return sorted(groups.values(), key=rank)


def _block(group: Sequence[Finding], room: int) -> str:
    first = group[0]
    head = _title(first)
    others = list(dict.fromkeys(f.id for f in group if f.id != first.id))
    if len(group) > 1:
        named = ", ".join(_short(i) for i in others[: _IDS - 1])
        more = f" and {len(others) - _IDS + 1} more" if len(others) >= _IDS else ""
        head = f"{len(group)}x {head}" + (f"\n  also {named}{more}" if named else "")
    lines = [_clip(head, room * 2 // 3), *_places(first)]
    if first.actual and not _told(first):
        lines.append(f"  left {first.actual}\n  right {first.expected}")
    details = [d for d in first.detail if d.strip() and d.strip() not in head]
    said = list(dict.fromkeys(f.message.split("\n")[0][:90] for f in group[1:]))
    said = [s for s in said if s != first.message.split("\n")[0][:90]]
    if said:
        details.append("other messages: " + "; ".join(said[:3]) + (f" (+{len(said) - 3})" if len(said) > 3 else ""))
    text = "\n".join(lines)
    for detail in details:
        left = room - len(text) - 3
        if left < 40:
            break
        text += "\n" + _indent(_clip(detail, min(left, 700)))
    return _clip(text, room)


def _title(finding: Finding) -> str:
    kind = "" if finding.kind is FindingKind.FAILURE else f"{finding.kind.value.replace('_', ' ').upper()} "
    phase = f" ({finding.phase})" if finding.phase not in ("", "call", "process") else ""
    if finding.phase:
        error = finding.error if finding.phase != "process" else "PROCESS DIED" if finding.error == "died" else ""
        return f"{kind}{finding.id}{phase}\n  {error + ': ' if error else ''}{_message(finding)}"
    place = (
        f"{finding.path}:{finding.line} "
        if finding.path and finding.line
        else f"{finding.path} "
        if finding.path
        else ""
    )
    rule = f"[{finding.rule}] " if finding.rule else ""
    return f"{kind}{place}{rule}{_message(finding)}"


def _message(finding: Finding) -> str:
    return _clip(finding.message, 700)


def _places(finding: Finding) -> list[str]:
    return [
        f"  {f.path}:{f.line} in {f.function}: {f.source}" + (f"  (x{f.repeats})" if f.repeats > 1 else "")
        for f in finding.frames
    ]


def _told(finding: Finding) -> bool:
    return finding.actual in finding.message and finding.expected in finding.message


def _others(groups: Sequence[list[Finding]], room: int) -> str:
    if not groups:
        return ""
    lines = [f"{len(groups)} more root causes:"]
    for group in groups:
        first = group[0]
        place = f"{first.path}:{first.line}" if first.path else ""
        lines.append(_clip(f"  {len(group)}x {first.error or first.rule} {_short(first.id)} {place}".rstrip(), 160))
    return _clip("\n".join(lines), room)


def _short(test: str) -> str:
    return test.rpartition("::")[2][:60] or test[:60]


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())


def _clip(text: str, room: int) -> str:
    """Both ends of a text that is too long."""
    if len(text) <= room:
        return text
    mark = "\n  …cut…\n"
    keep = max(0, room - len(mark))
    head = int(keep * 0.7)
    return text[:head] + mark + text[len(text) - (keep - head) :]
