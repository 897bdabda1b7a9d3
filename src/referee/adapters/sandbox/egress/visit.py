"""One connection to the proxy, from its first byte to its end."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

from referee.adapters.sandbox.egress import heads, hello
from referee.adapters.sandbox.egress.heads import Asked, Unacceptable, Unreadable
from referee.adapters.sandbox.egress.opening import first_head, greeted, say
from referee.adapters.sandbox.egress.outside import Outside, Unreachable
from referee.adapters.sandbox.egress.record import OVER, Record, Spent, Tally
from referee.adapters.sandbox.egress.relay import Idle, relay
from referee.domain.destination import Destination, plainly, tunnelled

NOT_LISTED = "it is not on the list of allowed destinations"
_NOTHING_SAID = "(no request)"


class Visit:
    """What all connections of one command have in common: the rules, the record, and when it is over."""

    def __init__(self, outside: Outside, allowed: tuple[Destination, ...], record: Record) -> None:
        self._outside, self._allowed, self.record = outside, allowed, record
        self._secrets = outside.values(allowed)
        self._lock = threading.Lock()
        self._connected: set[socket.socket] = set()  # both ends of what leads outside
        self._inner: set[socket.socket] = set()
        self._over = False

    def end(self) -> None:
        """The command is gone: cut what is connected, and connect to nothing more."""
        with self._lock:
            self._over = True
            _shut(self._connected)

    def close(self) -> None:
        """Let go of everybody who is still being listened to."""
        with self._lock:
            _shut(self._inner)

    def turn_away(self, inner: socket.socket) -> None:
        """Refuse without listening."""
        with inner:
            self._refuse(inner, _NOTHING_SAID, 503, "there are too many connections at once")

    def serve(self, inner: socket.socket) -> None:
        """See one connection through. What goes wrong is on the record."""
        with inner, self._listed(self._inner, inner):
            try:
                head, early = first_head(inner)
                if head:
                    self._decide(inner, heads.read(head), early)
            except Unacceptable as wrong:
                self._refuse(inner, wrong.asked or _NOTHING_SAID, 400, str(wrong))
            except OSError:
                return  # the command has hung up

    def _decide(self, inner: socket.socket, asked: Asked, early: bytes) -> None:
        find = tunnelled if asked.tunnel else plainly
        place = find(self._allowed, asked.host, asked.port)
        if place is None:
            self._refuse(inner, asked.words, 403, NOT_LISTED)
        elif self._over:
            self.record.refused(place.words, OVER)
        else:
            self._connect(inner, asked, early, place)

    def _connect(self, inner: socket.socket, asked: Asked, early: bytes, place: Destination) -> None:
        added = place.injection.header if place.injection and not asked.tunnel else ""
        tally, reason = self.record.let_out(place.words, added), ""
        try:
            outer = self._dial(asked, place)
            with outer, self._listed(self._connected, outer), self._listed(self._connected, inner):
                if not self._over:
                    tally.connected()
                    reason = self._pass(inner, outer, (asked, early), place, tally)
        except Unreachable as wrong:
            reason = str(wrong)
            say(inner, place.words, 502, reason)
        finally:
            self.record.over(tally, reason)

    def _dial(self, asked: Asked, place: Destination) -> socket.socket:
        outer = self._outside.dial(place)
        if asked.tunnel or place.injection is None:
            return outer
        try:
            return self._outside.network.secure(outer, place.host)
        except OSError as wrong:
            outer.close()
            raise Unreachable(f"no secure connection: {wrong.strerror or wrong}") from None

    def _pass(
        self, inner: socket.socket, outer: socket.socket, said: tuple[Asked, bytes], place: Destination, tally: Tally
    ) -> str:
        """Pass everything until one side ends it; why it was cut, if it was."""
        asked, early = said
        try:
            if asked.tunnel:
                inner.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                relay(inner, outer, tally, greeted(inner, early, place))
            else:
                from referee.adapters.sandbox.egress import documents  # slow to load, and rarely needed

                documents.forward(inner, outer, asked, early, (place, self._secrets, tally))
        except Spent:
            return "the command has exchanged as many bytes as it may"
        except (Idle, TimeoutError):
            return "nothing came for too long"
        except (Unreadable, hello.NotTls) as wrong:
            return str(wrong)
        except OSError:
            return ""  # either side may break off as it likes
        return ""

    def _refuse(self, inner: socket.socket, target: str, status: int, reason: str) -> None:
        self.record.refused(target, reason)
        say(inner, target, status, reason)

    @contextlib.contextmanager
    def _listed(self, among: set[socket.socket], wire: socket.socket) -> Iterator[None]:
        with self._lock:
            among.add(wire)
        try:
            yield
        finally:
            with self._lock:
                among.discard(wire)


def _shut(wires: set[socket.socket]) -> None:
    for wire in wires:
        with contextlib.suppress(OSError):
            wire.shutdown(socket.SHUT_RDWR)
