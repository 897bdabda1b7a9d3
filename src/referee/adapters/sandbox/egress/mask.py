"""Hiding a secret in what comes back, so that a server that echoes its headers does not give it away."""

from __future__ import annotations

_STAR = b"*"


class Mask:
    """Replaces each secret by as many stars, also where it is split over two pieces of a stream."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self._secrets = sorted((s.encode() for s in secrets), key=len, reverse=True)
        self._kept = b""

    def text(self, text: str) -> str:
        """One whole text with every secret hidden."""
        return self._hidden(text.encode("latin-1", "replace")).decode("latin-1")

    def feed(self, data: bytes) -> bytes:
        """What of the stream can be passed on by now; a possible beginning of a secret is kept back."""
        data = self._hidden(self._kept + data)
        keep = max((self._overlap(data, secret) for secret in self._secrets), default=0)
        self._kept = data[len(data) - keep :]
        return data[: len(data) - keep]

    def rest(self) -> bytes:
        """What was kept back, once the stream has ended."""
        kept, self._kept = self._kept, b""
        return kept

    def _hidden(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret, _STAR * len(secret))
        return data

    @staticmethod
    def _overlap(data: bytes, secret: bytes) -> int:
        """How long an end of `data` is a beginning of `secret`."""
        return next((n for n in range(min(len(secret) - 1, len(data)), 0, -1) if data.endswith(secret[:n])), 0)
