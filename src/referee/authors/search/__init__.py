"""Repair without a model: likely small edits, tried in the order of their promise against the failing tests."""

from referee.authors.search.author import SearchAuthor

__all__ = ["SearchAuthor"]
