"""Components for an editor that speaks the Agent Client Protocol: a difference, and a request for permission."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from referee.domain.component import Approval, DiffReview, FileDiff, Hunk

Document = dict[str, Any]


def update(session: str, call: str, title: str, review: DiffReview, root: str) -> Document:
    """The parameters of `session/update`: a tool call that has come to this difference. Paths are below `root`."""
    called = {"toolCallId": call, "title": title, "kind": "edit", "status": "completed"}
    shown = {"content": list(_content(review, root)), "locations": list(_places(review, root))}
    return {"sessionId": session, "update": {"sessionUpdate": "tool_call", **called, **shown}}


def permission(session: str, asked: Approval, review: DiffReview | None = None, root: str = "/") -> Document:
    """The parameters of `session/request_permission`, with the whole text and its digest.

    Where a signature is demanded that a click cannot give, the only option is no, and the text says what to type.
    """
    signs = asked.demands == "ssh" or asked.sort == "signature"
    typed = "\n".join(f"To answer, type: {command}" for command in asked.commands) if signs else ""
    text = "\n\n".join(filter(None, (asked.shown, f"digest {asked.digest}", typed)))
    content = [
        {"type": "content", "content": {"type": "text", "text": text}},
        *(_content(review, root) if review else ()),
    ]
    options = [{"optionId": "no", "name": "Reject", "kind": "reject_once"}]
    if not signs:
        options.insert(0, {"optionId": "yes", "name": "Approve", "kind": "allow_once"})
    call = {"toolCallId": asked.id, "title": asked.summary, "status": "pending", "content": content}
    return {"sessionId": session, "toolCall": {**call, "rawInput": {"digest": asked.digest}}, "options": options}


def _content(review: DiffReview, root: str) -> Iterator[Document]:
    """Each hunk by itself: the lines around a change are what an editor finds its place by."""
    for file in review.files:
        for hunk in file.hunks:
            yield {"type": "diff", "path": os.path.join(root, file.path), **_sides(hunk, file)}
        if not file.hunks:
            words = " ".join(filter(None, (file.path, file.note, *file.plain)))
            yield {"type": "content", "content": {"type": "text", "text": words}}


def _sides(hunk: Hunk, file: FileDiff) -> Document:
    old = "".join(f"{side.old}\n" for side in hunk.sides if side.old is not None)
    new = "".join(f"{side.new}\n" for side in hunk.sides if side.new is not None)
    return {"oldText": None if file.note == "created" else old, "newText": new}


def _places(review: DiffReview, root: str) -> Iterator[Document]:
    for file in review.files:
        first = file.hunks[0].sides[0] if file.hunks and file.hunks[0].sides else None
        line = (first.new_number or first.old_number) if first else None
        yield {"path": os.path.join(root, file.path), **({"line": line} if line else {})}
