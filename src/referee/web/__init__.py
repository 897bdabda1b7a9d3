"""The web page on loopback: what the record holds, as it grows, and the wishes of the person who looks at it."""

from referee.web.server import serve

__all__ = ["serve"]
