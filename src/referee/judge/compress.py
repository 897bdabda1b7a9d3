"""From findings to the text a model is given: one full example per root cause, the rest by count and name (D5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from referee.domain.finding import Finding, FindingKind
from referee.domain.verdict import CheckResult, blocking
from referee.judge.normal import coarse, lasting, plain
from referee.judge.wording import clip, first_line, heading, listed, placed, says_values, short, where

CAP = 4_000
_CAUSES = 8  # told in full; the others in one line each
_EXAMPLE = 1_500  # characters of one cause at most
_ORDER = ("internal", "process", "collect", "setup", "call", "teardown")


def compress(results: Sequence[CheckResult], cap: int = CAP) -> str:
    """Everything that blocks, in at most `cap` characters. Nothing blocks: an empty string."""
    bad = [r for r in results if not r.clear]
    if not bad:
        return ""
    groups = _grouped([f for r in bad for f in blocking([r])])
    head = "\n".join(_headline(r) for r in bad)
    head = clip(head, max(200, cap // 4))
    shown, others = groups[:_CAUSES], groups[_CAUSES:]
    tail = _others(others, cap // 5)
    room = cap - len(head) - len(tail) - 2 * len(shown) - 2
    blocks: list[str] = []
    for n, group in enumerate(shown):
        share = max(160, min(_EXAMPLE, room // (len(shown) - n)))
        block = _block(group, share)
        room -= len(block)
        blocks.append(block)
    return lasting(plain(clip("\n\n".join([head, *blocks, *([tail] if tail else [])]), cap)))


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


def _key(finding: Finding) -> tuple[str, ...]:
    if placed(finding):
        return (finding.kind, finding.check, finding.rule, coarse(finding.message))
    return (finding.kind, finding.check, finding.cause or finding.message)


def _grouped(found: Sequence[Finding]) -> list[list[Finding]]:
    """Findings by cause, in an order that does not depend on theirs."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in sorted(found, key=_order):
        groups.setdefault(_key(finding), []).append(finding)

    def rank(group: list[Finding]) -> tuple[Any, ...]:
        first = group[0]
        phase = _ORDER.index(first.phase) if first.phase in _ORDER else len(_ORDER)
        return (first.kind is not FindingKind.TAMPER, phase, -len(group), *_order(first))

    return sorted(groups.values(), key=rank)


def _order(finding: Finding) -> tuple[Any, ...]:
    numbered = tuple(p.zfill(9) if p.isdigit() else p for p in re.split(r"(\d+)", finding.id))
    return (finding.path if placed(finding) else "", finding.line if placed(finding) else 0, numbered, finding.phase)


def _block(group: Sequence[Finding], room: int) -> str:
    first = group[0]
    lines = listed(group, room * 2 // 3) if placed(first) else [clip(heading(group), room * 2 // 3), *where(first)]
    if first.actual and not says_values(first):
        lines.append(f"  left {first.actual}\n  right {first.expected}")
    details = [d for d in first.detail if d.strip() and d.strip() not in lines[0]]
    said = list(dict.fromkeys(first_line(f) for f in group[1:]))
    said = [s for s in said if s != first_line(first)] if not placed(first) else []
    if said:
        details.append("other messages: " + "; ".join(said[:3]) + (f" (+{len(said) - 3})" if len(said) > 3 else ""))
    text = "\n".join(lines)
    for detail in details:
        left = room - len(text) - 3
        if left < 40:
            break
        text += "\n" + _indent(clip(detail, min(left, 700)))
    return clip(text, room)


def _others(groups: Sequence[list[Finding]], room: int) -> str:
    if not groups:
        return ""
    lines = [f"{len(groups)} more root causes:"]
    for group in groups:
        first = group[0]
        place = f"{first.path}:{first.line}" if first.path else ""
        lines.append(clip(f"  {len(group)}x {first.error or first.rule} {short(first.id)} {place}".rstrip(), 160))
    return clip("\n".join(lines), room)


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())
