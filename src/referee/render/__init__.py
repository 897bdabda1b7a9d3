"""Reports for people: plain text, Markdown and HTML. Everything shown is neutralised first (case E13)."""

from referee.render.html import html
from referee.render.markdown import markdown
from referee.render.plain import plain
from referee.render.text import text
from referee.render.words import headline

__all__ = ["headline", "html", "markdown", "plain", "text"]
