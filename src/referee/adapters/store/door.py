"""The last look at what is about to be written into a record."""

from __future__ import annotations

from referee.domain.errors import WorldFault
from referee.domain.redaction import Redaction
from referee.ports import Entry


def unhidden(redaction: Redaction, entry: Entry) -> None:
    """Raise `WorldFault` if an entry holds a secret: it is chained already, so it is too late to hide it here."""
    if redaction.document(entry.payload) != entry.payload:
        raise WorldFault(f"entry {entry.key} holds a secret and is not written; please report this")
