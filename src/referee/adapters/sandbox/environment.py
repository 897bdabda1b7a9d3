"""The environment of every command: a short fixed list, then what the command itself names (B2)."""

from __future__ import annotations

from collections.abc import Mapping

from referee.adapters.sandbox.stage.door import ADDRESS
from referee.adapters.sandbox.stage.system import HOME, HOSTNAME, USER

_NO_EDITOR = "echo 'there is no editor here: give the text as an argument' >&2; false"
_FIXED = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": HOME,
    "USER": USER,
    "LOGNAME": USER,
    "SHELL": "/bin/sh",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # noqa: S108 - private to the command
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "EDITOR": "false",
    "VISUAL": "false",
    # Git hands these to a shell; one that succeeded would accept whatever git proposes (case E6).
    "GIT_EDITOR": _NO_EDITOR,
    "GIT_SEQUENCE_EDITOR": _NO_EDITOR,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "DEBIAN_FRONTEND": "noninteractive",
    "PYTHONNOUSERSITE": "1",
}
_PROXY = "http://{}:{}".format(*ADDRESS)
_DIRECT = f"localhost,127.0.0.1,::1,{HOSTNAME}"
# Programs read one spelling or the other, and Node none of them unless it is told to.
_PROXIED = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _PROXY),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), _DIRECT),
    "NODE_USE_ENV_PROXY": "1",
}


def environment(named: Mapping[str, str], proxied: bool = False) -> dict[str, str]:
    """What a command that names `named` finds in its environment; nothing is inherited.

    With `proxied`, the usual variables lead to the proxy.
    """
    return {**_FIXED, **(_PROXIED if proxied else {}), **named}
