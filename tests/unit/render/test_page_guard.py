"""The page is for the user who started it, even if another one has the link."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("starlette")
from starlette.responses import PlainTextResponse

from referee.web.entrance import Entrance
from referee.web.guard import Guard


@pytest.mark.parametrize(("mine", "status"), [(True, 303), (False, 403)])
def test_the_link_lets_in_only_a_program_of_the_same_user(mine: bool, status: int) -> None:
    entrance, sent, seen = Entrance(8737), list[Any](), list[Any]()

    def ours(*ends: tuple[str, int]) -> bool:
        seen.append(ends)
        return mine

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": "/open", "query_string": f"token={entrance.token}".encode(),
        "headers": [(b"host", b"127.0.0.1:8737")], "client": ["127.0.0.1", 5], "server": ["127.0.0.1", 8737],
    }  # fmt: skip
    asyncio.run(Guard(PlainTextResponse("in"), entrance, ours)(scope, None, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == status
    assert seen == [(("127.0.0.1", 5), ("127.0.0.1", 8737))]
    assert (entrance.exchange(entrance.token) is None) is mine, "a stranger does not use the link up"
