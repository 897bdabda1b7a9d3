"""How a migration can end but well."""

from __future__ import annotations


class Refused(Exception):
    """The database said no, and nothing was changed."""


class Unsure(Exception):
    """The database did not say whether it did it."""
