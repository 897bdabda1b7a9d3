"""What may be remembered: rules that no model can argue with."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from referee.domain.memory import Confidence, Memory, MemoryLayer, Origin, Standing, State, day
from referee.domain.value import Value

LONGEST = 1_000  # characters of one memory
DAYS = 90  # that something holds which no person said and which depends on no file
SAME, NEAR = 0.85, 0.5  # shares of words
_SECRETS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    re.compile(r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b|\bxox[abpr]-[A-Za-z0-9-]{10,}|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+"),
    re.compile(r"\b(?:password|passwd|secret|token|api[_-]?key)\b\s*[:=]\s*\S{6,}", re.IGNORECASE),
    re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]+@", re.IGNORECASE),
)
_PASSING = re.compile(r"(?:^|[\s'\"`(])/(?:tmp|proc|dev/shm|var/tmp)/|\.harness/|\bpid \d+", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9_./-]*[a-z0-9]")
_NOT = frozenset(("not", "no", "never", "don't", "avoid", "without", "isn't", "doesn't", "cannot", "can't"))


class Said(Value):
    """Something to be remembered, as it was said; see `Memory`."""

    text: str
    layer: MemoryLayer = MemoryLayer.PROJECT
    origin: Origin
    source: str = ""
    confidence: Confidence = Confidence.MEDIUM
    topic: str = ""
    expires: str = ""
    supersedes: str = ""
    files: Mapping[str, str] = {}
    when: str = ""
    cost: str = ""


class Admission(Value):
    """What becomes of something said: a memory, or why not. `same_as` is a memory that says it already.

    `contradicts` are active memories that may say otherwise: both are shown to whoever confirms.
    """

    memory: Memory | None = None
    refused: tuple[str, ...] = ()
    same_as: str = ""
    contradicts: tuple[str, ...] = ()


def admit(said: Said, known: Sequence[Standing], today: str) -> Admission:
    """Whether `said` becomes a memory: needed again, able to change, costly when missing; and neither known nor secret.

    What a person says need not prove its use, and never expires by itself.
    """
    text = said.text.strip()
    flat = {name: " ".join(getattr(said, name).split()) for name in ("source", "topic", "when", "cost")}
    refused = (*_form(text, said), *(() if said.origin is Origin.PERSON else _use(said)))
    refused += _place(said, known)
    if refused:
        return Admission(refused=refused)
    counted = [s for s in known if s.state in (State.ACTIVE, State.QUARANTINED)]
    same = next((s for s in counted if s.memory.layer is said.layer and _same(text, said, s.memory)), None)
    if same is not None:
        return Admission(same_as=same.memory.id)
    active = [s.memory for s in known if s.state is State.ACTIVE and s.memory.id != said.supersedes]
    against = tuple(m.id for m in active if _against(text, said, m))
    lasts = said.expires or ("" if said.origin is Origin.PERSON or said.files else _later(today))
    fields = {**said.model_dump(), **flat, "text": text, "expires": lasts, "date": today}
    memory = Memory.model_validate({**fields, "id": named(said.topic or text, text)})
    return Admission(memory=memory, contradicts=against)


def named(stem: str, text: str) -> str:
    """An id to read and type: words of `stem`, and four hexadecimal digits of the text."""
    words = re.findall(r"[a-z0-9]+", stem.lower())[:5]
    tail = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:4]
    return f"{'-'.join(words)[:40].strip('-') or 'memory'}-{tail}"


def _form(text: str, said: Said) -> tuple[str, ...]:
    found = []
    if not text:
        found.append("it says nothing; say in a sentence what to remember")
    if len(text) > LONGEST:
        found.append(f"it is {len(text)} characters long; say it in at most {LONGEST}, or write it into a document")
    fields = (text, said.topic, said.when, said.cost)
    if any(secret.search(field) for secret in _SECRETS for field in fields):
        found.append("it looks like it holds a password or key; name the place where it is kept instead")
    if any(not c.isprintable() and c not in "\n\t" for field in fields for c in field):
        found.append("it holds control characters; write plain text")
    if any("\n" in path for path in said.files):
        found.append("a file that it depends on has a line break in its name; name another")
    if said.expires and not _is_day(said.expires):
        found.append(f"{said.expires!r} is no day; write it as 2030-12-31")
    return tuple(found)


def _use(said: Said) -> tuple[str, ...]:
    found = []
    if len(said.when.split()) < 2:
        found.append("it does not say when it will be needed again")
    if len(said.cost.split()) < 2:
        found.append("it does not say what goes wrong without it")
    if _PASSING.search(said.text):
        found.append("it names something that is gone after this run; remember what lasts")
    return tuple(found)


def _place(said: Said, known: Sequence[Standing]) -> tuple[str, ...]:
    if said.supersedes and all(s.memory.id != said.supersedes for s in known):
        return (f"there is no memory {said.supersedes} to replace",)
    return ()


def _same(text: str, said: Said, memory: Memory) -> bool:
    return not _opposed(text, memory.text) and _share(text, memory.text) >= SAME and said.topic in ("", memory.topic)


def _against(text: str, said: Said, memory: Memory) -> bool:
    if said.topic and said.topic == memory.topic:
        return True
    return _opposed(text, memory.text) and _share(text, memory.text) >= NEAR


def _opposed(one: str, other: str) -> bool:
    """Whether one denies and the other does not, or they name different numbers."""
    mine, theirs = _words(one), _words(other)
    numbers = [{w for w in words if w[0].isdigit()} for words in (mine, theirs)]
    return bool(mine & _NOT) != bool(theirs & _NOT) or numbers[0] != numbers[1]


def _share(one: str, other: str) -> float:
    mine, theirs = _words(one) - _NOT, _words(other) - _NOT
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower().replace("’", "'"))) | (
        frozenset(w for w in text.lower().replace("’", "'").split() if w in _NOT)
    )


def _later(today: str) -> str:
    return (date.fromisoformat(today) + timedelta(days=DAYS)).isoformat()


def _is_day(text: str) -> bool:
    try:
        return day(text) == text
    except ValueError:
        return False
