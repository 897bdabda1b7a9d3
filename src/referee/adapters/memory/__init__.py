"""Memories as plain Markdown files with front matter."""

from referee.adapters.memory.files import MemoryFiles

__all__ = ["MemoryFiles"]
