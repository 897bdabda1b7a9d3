"""Secrets are blotted out of what is kept and shown: known ones by their value, others by the form of a key."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from referee.domain.canonical import canonical

SHORTEST = 8  # characters; anything shorter would blot out what is no secret
_LINE = 24  # characters of one line of a longer secret, such as a private key, that count as a secret, too
_MARK = "[hidden {}]"
# Forms that hardly anything but a key has; what a group keeps is no part of the secret.
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\]|-(?!----)){40,}",
        r"\bsk-(?=[A-Za-z0-9_-]{0,99}[0-9])(?=[A-Za-z0-9_-]{0,99}[A-Z])[A-Za-z0-9_-]{20,200}",
        r"\b[spr]k_(?:live|test)_[A-Za-z0-9]{16,}",
        r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{20,}",
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{35}|\bxox[abprs]-[A-Za-z0-9-]{10,}",
        r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
        r"(?i)(\bauthorization\b\W{1,4}(?:bearer|basic|token)\s+)[\w.~+/=-]{8,}",
        r"(?i)(\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@]{1,99}:)[^\s/:@]{3,200}(?=@)",
    )
)


class Redaction:
    """What is hidden. It only ever learns; a value that is not `worth` hiding is not learnt. Safe in several threads.

    Without `forms`, only known values are hidden: what a run acts on may look like a key and be none.
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._marks: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self._lock = threading.Lock()
        for name, value in (known or {}).items():
            self.learn(name, value)

    def learn(self, name: str, value: str) -> None:
        """Hide `value` from now on, in its usual spellings, as `[hidden NAME]`."""
        with self._lock:
            fresh = {s: _MARK.format(name) for s in _spellings(value) if s not in self._marks} if worth(value) else {}
            if fresh:
                self._marks = {**self._marks, **fresh}
                longest = sorted(self._marks, key=len, reverse=True)
                self._pattern = re.compile("|".join(map(re.escape, longest)))

    def text(self, text: str, *, forms: bool = False) -> str:
        """A text without the secrets in it."""
        # The pattern first: all that it finds has a mark then, also if more is learnt meanwhile.
        if (pattern := self._pattern) is not None:
            marks = self._marks
            text = pattern.sub(lambda found: marks[found[0]], text)
        for form in _FORMS if forms else ():
            text = form.sub(lambda found: "".join(filter(None, found.groups())) + _MARK.format("key"), text)
        return text

    def document(self, text: str, *, forms: bool = False) -> str:
        """A JSON text without the secrets in its strings; a text that is no JSON as such. What holds none stays."""
        if self.text(text, forms=forms) == text:
            return text
        try:
            found = json.loads(text)
        except ValueError:
            return self.text(text, forms=forms)
        clean = self.value(found, forms=forms)
        return text if clean == found else canonical(clean).decode()

    def value(self, found: Any, *, forms: bool = False) -> Any:
        """A value of JSON without the secrets in its strings and keys; a string may be a JSON text in its turn."""
        if isinstance(found, str):
            return self.document(found, forms=forms)
        if isinstance(found, dict):
            return {self.text(k, forms=forms): self.value(v, forms=forms) for k, v in found.items()}
        if isinstance(found, list):
            return [self.value(item, forms=forms) for item in found]
        return found

    def data(self, data: bytes, *, forms: bool = False) -> bytes:
        """The same for bytes, which stay as they are where they are no text."""
        return self.document(data.decode("utf-8", "surrogateescape"), forms=forms).encode("utf-8", "surrogateescape")

    def named(self, text: str) -> tuple[str, ...]:
        """The marks of known secrets that `text` has: it stands for something that its writer was not shown."""
        return tuple(mark for mark in sorted(set(self._marks.values())) if mark in text)


def worth(value: str) -> bool:
    """Whether a value is long and odd enough to be a secret, and not a word that texts use anyway."""
    word = value.isdigit() or (value.isalpha() and len(value) < 2 * SHORTEST)
    return len(value) >= SHORTEST and len(set(value)) >= 5 and not word


def _spellings(value: str) -> Iterator[str]:
    """As it is, in JSON and in an address; and the lines of a longer one.

    Not as base64: files travel so, and what is executed is never altered.
    """
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield quote(value, safe="")
    yield from (line for line in value.splitlines() if len(line) >= _LINE and not line.startswith("-----"))
