"""Keeping a conversation inside the window: old output goes first, then the middle; conclusions stay (H5).

Pure: the same conversation folds to the same one. A call and its result are never parted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.context.fence import plain
from referee.domain.observation import Note, Todo
from referee.domain.value import Value
from referee.ports import Message, ToolCall

BYTES_PER_TOKEN = 3  # a high estimate, as in the budget
WINDOW = 100_000  # tokens
FULL = 0.8  # of the window, where something must go
TAIL = 0.16  # of the window, that stays word for word
RECENT = 10  # answers whose output is never pruned
WORTH_DROPPING = 200  # characters
LISTED = 40
LINE_CHARS = 300
TOLD_CHARS = 2_000


class State(Value):
    """What must outlive a fold."""

    todo: tuple[Todo, ...] = ()
    notes: tuple[Note, ...] = ()
    changed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    judged: str = ""


class Folded(Value):
    """A shorter conversation. `dropped` are outputs that were taken out, by call id; `away` the folded messages."""

    messages: tuple[Message, ...]
    dropped: Mapping[str, str] = {}
    away: tuple[Message, ...] = ()


def size(messages: Sequence[Message]) -> int:
    """Tokens at most."""
    texts = (m.content + "".join(c.name + c.arguments for c in m.calls) for m in messages)
    return sum(len(t.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN + 8 for t in texts)


def folded(messages: Sequence[Message], state: State, window: int = WINDOW) -> Folded | None:
    """The conversation made to fit as far as it can be, or None if it fits or cannot be shorter."""
    if size(messages) <= window * FULL:
        return None
    pruned, dropped = _pruned(messages)
    if size(pruned) <= window * FULL:
        return Folded(messages=tuple(pruned), dropped=dropped)
    cut = _tail(pruned, int(window * TAIL))
    away = pruned[1:cut]
    summary = Message(role="user", content=_summary(away, state))
    if size([summary]) >= size(away):
        return Folded(messages=tuple(pruned), dropped=dropped) if dropped else None
    return Folded(messages=(pruned[0], summary, *pruned[cut:]), dropped=dropped, away=tuple(away))


def outputs(call_id: str) -> str:
    """Where the tool read shows the output of a call after it was dropped; commands do not see it there."""
    return f".harness/outputs/call-{''.join(c if c.isalnum() or c in '-_' else '_' for c in call_id)}.txt"


def _pruned(messages: Sequence[Message]) -> tuple[list[Message], dict[str, str]]:
    """Raw outputs before the last answers become a line each."""
    answers = [n for n, m in enumerate(messages) if m.role == "assistant"]
    border = answers[-RECENT] if len(answers) > RECENT else 0
    asked = {c.id: c.arguments for m in messages for c in m.calls}
    dropped: dict[str, str] = {}
    out = list(messages)
    for n, message in enumerate(messages[:border]):
        ending = f"; output dropped, the tool read shows all of it: {outputs(message.call_id)}]"
        # What was dropped by an earlier fold is such a line already; the output itself is kept under that name.
        gone = message.content.endswith(ending)
        if message.role == "tool" and len(message.content) > WORTH_DROPPING and not gone:
            dropped[message.call_id] = message.content
            line = f"[{message.tool} {_short(asked.get(message.call_id, ''), 80)}: {_last(message.content)}"
            out[n] = message.model_copy(update={"content": line + ending})
    return out, dropped


def _tail(messages: Sequence[Message], room: int) -> int:
    """Where the part begins that stays: at an answer or a message of the user's, so that no pair is parted."""
    cut = len(messages)
    for n in range(len(messages) - 1, 0, -1):
        if messages[n].role == "tool":
            continue
        if size(messages[n:]) > room and cut < len(messages):
            break
        cut = n
        if size(messages[n:]) > room:
            break
    return cut


def _summary(away: Sequence[Message], state: State) -> str:
    """What the folded part came to, from what was noted, planned, changed and refused; no model is asked."""
    parts = ["# Earlier work, folded\nThe task above still stands. What follows is what came of the work so far."]
    if state.todo:
        parts.append("## Plan\n" + "\n".join(f"- [{t.state}] {plain(t.text)}" for t in state.todo))
    titles = {"decision": "Decisions", "attempt": "Attempts and why they failed", "fact": "Facts"}
    for kind, title in titles.items():
        noted = [f"- {plain(n.text)}" for n in state.notes if n.kind == kind]
        parts += [f"## {title}\n" + "\n".join(noted[-LISTED:])] if noted else []
    if state.changed:
        parts.append("## Files changed so far\n" + "\n".join(f"- {plain(p)}" for p in state.changed[:LISTED]))
    if state.failed:
        failed = list(dict.fromkeys(state.failed))[-LISTED:]
        parts.append("## Calls that failed\n" + "\n".join(f"- {line}" for line in failed))
    if state.judged:
        parts.append(f"## What the judge said last\n{_clip(state.judged)}")
    said = [m.content.strip() for m in away if m.role == "assistant" and m.content.strip()]
    if said:
        parts.append("## What you said last\n" + _clip(said[-1]))
    return "\n\n".join(parts) + "\n"


def failure(call: ToolCall, text: str) -> str:
    """A call that did not succeed, in a line."""
    return f"{call.name} {_short(call.arguments, 100)}: {_last(text)}"


def _last(text: str) -> str:
    """The line that says how it went: what stands in brackets at the end, else the last one."""
    last = text.rstrip().rpartition("\n")[2]
    return _short(last.strip("[]"), LINE_CHARS)


def _short(text: str, most: int) -> str:
    text = plain(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _clip(text: str) -> str:
    return text if len(text) <= TOLD_CHARS else f"{text[:TOLD_CHARS]}…"
