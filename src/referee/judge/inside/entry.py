"""The script the sandbox starts: `python -s -S -B entry.py PLAN…` cold, or loaded once and forked per job.

Order matters. Started cold, the code under test is already on disk: the key is taken before the interpreter looks
into any folder but the standard library's, and no `sitecustomize` is ever imported.
"""

# ruff: noqa: TID251 - the only way to be told anything before the code under test is there

from __future__ import annotations

import importlib
import json
import os
import site
import sys
import types

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.basename(_HERE)
_COLD = __name__ == "__main__"


def _own(name: str) -> types.ModuleType:
    sys.path.insert(0, os.path.dirname(_HERE))
    try:
        return importlib.import_module(f"{_PACKAGE}.{name}")
    finally:
        sys.path.pop(0)


sys.path[:] = [p for p in sys.path if p not in ("", _HERE)]
_LINE = [_own("channel").connect()] if _COLD else []
for _name in ("sitecustomize", "usercustomize"):
    sys.modules[_name] = types.ModuleType(_name)
site.main()
_SESSION = _own("session")
_SESSION.warm_up(json.loads(os.environ.pop("REFEREE_WARM", "{}")))


def main(argv: list[str]) -> int:
    """Run one plan (JSON, possibly cut over several arguments) and report over the channel."""
    connect, session = _own("channel").connect, globals().pop("_SESSION")
    code: int = session.run(json.loads("".join(argv)), _LINE.pop() if _LINE else connect())
    return code


if _COLD:
    main(sys.argv[1:])
