"""When an agent goes round in circles: pure rules over the calls it made (loop guards)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from referee.domain.value import Value

SAME = 3  # equal calls with equal results in a row
ROUNDS = 3  # times that the same two or three calls come round
STREAK = 6  # calls in a row that did not succeed
STALE = 10  # calls in a row that showed nothing that was not known
_TOOK = re.compile(r"; \d+\.\d s\b")


class Made(Value):
    """One call: its `tool`, whether it `succeeded`, and what tells it and its result from others."""

    tool: str
    succeeded: bool
    print: str
    request: str = ""


def made(tool: str, arguments: str, outcome: str, text: str) -> Made:
    """What a call and its observation come to; how long it took is no news."""
    request = hashlib.sha256(f"{tool}\0{arguments}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    told = hashlib.sha256(_TOOK.sub("", text).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Made(tool=tool, succeeded=outcome == "done", print=f"{request}{told}", request=request)


def stuck(calls: Sequence[Made], since: int = 0) -> str:
    """What is wrong with the calls from number `since` on, in words for a model; empty if nothing is.

    What was known before `since` is known after it.
    """
    fresh = calls[since:]
    prints = [c.print for c in fresh]
    if len(prints) >= SAME and len(set(prints[-SAME:])) == 1:
        return f"you made the same call of {fresh[-1].tool} {SAME} times with the same result"
    for period in (2, 3):
        tail = prints[-period * ROUNDS :]
        if len(tail) == period * ROUNDS and tail == tail[:period] * ROUNDS:
            return f"the same {period} calls came round {ROUNDS} times with the same results"
    if len(fresh) >= STREAK and not any(c.succeeded for c in fresh[-STREAK:]):
        return f"{STREAK} calls in a row did not succeed"
    known = {c.print for c in calls[: max(since, len(calls) - STALE)]}
    if len(fresh) >= STALE and all(p in known for p in prints[-STALE:]):
        return f"the last {STALE} calls showed nothing that you had not seen"
    return ""
