"""Who is at this machine."""

from __future__ import annotations

import os
import pwd


def account() -> str:
    """The name of the account that this process runs as; its number where there is none."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"
