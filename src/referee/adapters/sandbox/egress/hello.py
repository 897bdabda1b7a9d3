"""The first message of TLS (RFC 8446, 4.1.2), read as far as the name of the server it is meant for."""

from __future__ import annotations

import struct

MOST_BYTES = 32 << 10
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME = 22, 1, 0
_RECORD, _FIXED = struct.Struct(">BBBH"), 34  # version and random


class NotTls(ValueError):
    """What was sent is no beginning of TLS."""


def server_name(data: bytes) -> str | None:
    """The server's name in lower case, empty if there is none; None if more bytes are needed. Raises `NotTls`."""
    message = _message(data)
    if message is None:
        return None
    try:
        return _name(message).lower()
    except (IndexError, struct.error, UnicodeDecodeError):
        raise NotTls("its first message is malformed") from None


def _message(data: bytes) -> bytes | None:
    """The hello, put together from its records; None if they are not complete."""
    body, at = b"", 0
    while True:
        if len(body) >= 4:
            if body[0] != _CLIENT_HELLO:
                raise NotTls("it does not begin with a hello")
            size = int.from_bytes(body[1:4], "big")
            if len(body) >= 4 + size:
                return body[4 : 4 + size]
        if len(data) - at < _RECORD.size:
            if data[at : at + 1] not in (b"", bytes([_HANDSHAKE])):
                raise NotTls("it does not speak TLS")
            return None
        kind, major, _, length = _RECORD.unpack_from(data, at)
        if kind != _HANDSHAKE or major != 3 or not length:
            raise NotTls("it does not speak TLS")
        at += _RECORD.size
        if len(data) - at < length:
            return None
        body += data[at : at + length]
        at += length


def _name(hello: bytes) -> str:
    at = _FIXED
    at += 1 + hello[at]  # session id
    at += 2 + _number(hello, at)  # ciphers
    at += 1 + hello[at]  # compression
    if at == len(hello):
        return ""
    end = at + 2 + _number(hello, at)
    at += 2
    names = []
    while at < end:
        kind, size = struct.unpack_from(">HH", hello, at)
        if kind == _SERVER_NAME:
            names.append(_one(hello[at + 4 : at + 4 + size]))
        at += 4 + size
    if len(names) > 1:
        raise NotTls("it names its server more than once")
    return names[0] if names else ""


def _one(extension: bytes) -> str:
    """The one host name in a list of names."""
    whole, kind, size = struct.unpack_from(">HBH", extension)
    if kind != 0 or whole != size + 3 or len(extension) != size + 5:
        raise NotTls("it names its server more than once")
    return extension[5:].decode("ascii")


def _number(hello: bytes, at: int) -> int:
    return int(struct.unpack_from(">H", hello, at)[0])
