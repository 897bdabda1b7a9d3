"""The three tools against real servers: what they send, what they say became of it, and what they refuse to hold."""

from __future__ import annotations

import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from neighbours import Post, Shop

from referee.actions.outside import CallOutside
from referee.adapters.outside import TOOLS, registry
from referee.adapters.outside.http import HttpTool
from referee.adapters.sandbox.egress import Outside, RealNetwork
from referee.domain.errors import UsageError
from referee.domain.outside import Proposal, Receipt, Request
from referee.domain.question import Asking
from referee.kernel.policy import Ask
from referee.policy import Outgoing, sign_outside
from referee.ports import OutsideTool

SECRETS = {"SHOP_KEY": "s3cret"}


def tool(name: str) -> OutsideTool:
    return registry(list(TOOLS), SECRETS.get)(name)


def test_a_tool_that_is_not_registered_does_not_exist() -> None:
    with pytest.raises(UsageError, match="no outside tool 'shell'; registered are: http"):
        registry(["http"], SECRETS.get)("shell")
    with pytest.raises(UsageError, match="no outside tool 'mail'"):
        registry(["http"], SECRETS.get)("mail")


# --- http ----------------------------------------------------------------------------------------------------


def send(shop: Shop, method: str = "POST", **more: Any) -> Receipt:
    arguments = {"method": method, "url": f"{shop.url}/orders?a=1", "body": "{}", **more}
    return tool("http").call(arguments, "k1", 10.0, signed=True)


def test_http_sends_the_key_and_the_secret_that_is_only_named(shop: Shop) -> None:
    receipt = send(shop, headers={"Authorization": "env:SHOP_KEY"})
    assert (receipt.status, shop.got) == ("done", [("POST", "/orders?a=1", "k1")])
    assert shop.headers[0]["Authorization"] == "s3cret"
    arguments = {"url": shop.url, "headers": {"Authorization": "env:SHOP_KEY"}}
    assert "s3cret" not in tool("http").describe(arguments).model_dump_json() + receipt.model_dump_json()


@pytest.mark.parametrize(("status", "expected"), [(200, "done"), (302, "failed"), (409, "failed"), (503, "unknown")])
def test_http_says_what_the_status_means_and_follows_nothing(shop: Shop, status: int, expected: str) -> None:
    shop.status = status
    assert send(shop).status == expected
    assert len(shop.got) == 1


def test_http_that_is_not_answered_is_unknown_and_one_that_is_not_sent_has_failed(shop: Shop) -> None:
    shop.hang_up = True
    receipt = send(shop)
    assert receipt.status == "unknown" and "Idempotency-Key k1" in receipt.check
    assert tool("http").call({"url": "http://127.0.0.1:1/"}, "k", 5.0, signed=True).status == "failed"
    looked = tool("http").look({"url": shop.url}, "k1")
    assert looked is not None and looked.status == "unknown"


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "ftp://example.org"},
        {"url": "https://user:pass@example.org"},
        {"url": "https://example.org/a b"},
        {"url": "https://example.org", "method": "CONNECT"},
        {"url": "https://example.org", "headers": {"Authorization": "Bearer abc"}},
        {"url": "https://example.org", "headers": {"X-Api-Key": "abc"}},
        {"url": "https://example.org", "headers": {"X": "a\r\nY: b"}},
        {"url": "https://example.org", "headers": {"Idempotency-Key": "mine"}},
        {"url": "https://example.org", "extra": 1},
    ],
)
def test_http_refuses_what_it_should_not_hold_or_send(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^http: "):
        tool("http").describe(arguments)


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ({"method": "GET", "url": "https://docs.example.org/a"}, False),
        ({"method": "HEAD", "url": "https://docs.example.org:443/"}, False),
        ({"method": "GET", "url": "https://docs.example.org:8443/"}, True),
        ({"method": "GET", "url": "http://docs.example.org/"}, True),
        ({"method": "GET", "url": "https://other.example.org/"}, True),
        ({"method": "GET", "url": "https://docs.example.org.evil.invalid/"}, True),
        ({"method": "POST", "url": "https://docs.example.org/a"}, True),
        ({"method": "GET", "url": "https://docs.example.org/a", "body": "all of it"}, True),
        ({"method": "GET", "url": "https://docs.example.org/", "headers": {"Authorization": "env:SHOP_KEY"}}, True),
    ],
)
def test_only_reading_from_a_listed_domain_without_a_secret_takes_no_signature(
    arguments: dict[str, Any], asked: bool
) -> None:
    proposal = Proposal(request=Request(tool="http", arguments=arguments), key="k", requester="ann")
    ruling = sign_outside(Outgoing(domains=("docs.example.org",)), tool)(CallOutside(proposal=proposal))
    assert (isinstance(ruling, Ask) and ruling.kind is Asking.SIGNATURE) if asked else ruling is None


@pytest.mark.parametrize("answers", [("127.0.0.1",), ("93.184.216.34", "127.0.0.1"), ("::1",)])
def test_a_listed_name_that_leads_near_us_is_not_read_from_unsigned(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, answers: tuple[str, ...]
) -> None:
    """Whoever runs the name server of a listed domain would have the machine's own services read out to an agent."""
    real, port = socket.getaddrinfo, urlsplit(shop.url).port

    def lied_to(host: str, *args: Any, **more: Any) -> list[Any]:
        if host != "docs.example.org":
            return real(host, *args, **more)
        return [found for a in answers for found in real(a, port, type=socket.SOCK_STREAM)]

    monkeypatch.setattr(socket, "getaddrinfo", lied_to)
    asked = {"method": "GET", "url": f"http://docs.example.org:{port}/secret"}
    refused = tool("http").call(asked, "k", 5.0, signed=False)
    assert (refused.status, shop.got) == ("failed", []) and "sandbox.allow_domains" in refused.said
    answers = ("127.0.0.1",)
    assert tool("http").call(asked, "k", 5.0, signed=True).status == "done"  # the attack would have worked
    assert shop.got == [("GET", "/secret", "k")]


class Elsewhere(RealNetwork):
    """The public internet, where the shop is."""

    def __init__(self, shop: Shop) -> None:
        self.shop, self.asked = shop, list[str]()

    def resolve(self, host: str, port: int) -> tuple[str, ...]:
        self.asked.append(host)
        return ("93.184.216.34",)

    def connect(self, address: str, port: int) -> socket.socket:
        self.asked.append(address)
        return socket.create_connection(("127.0.0.1", urlsplit(self.shop.url).port))


def test_a_listed_name_of_the_public_internet_is_looked_up_once_and_read_from(shop: Shop) -> None:
    network = Elsewhere(shop)
    made = HttpTool(SECRETS.get, Outside(network=network))
    assert made.call({"method": "GET", "url": "http://docs.example.org/a"}, "k", 5.0, signed=False).status == "done"
    assert (network.asked, shop.got) == (["docs.example.org", "93.184.216.34"], [("GET", "/a", "k")])
    assert shop.headers[0]["Host"] == "docs.example.org"


# --- sql -----------------------------------------------------------------------------------------------------

UP = "create table discount (code text primary key);\ninsert into discount values ('a;b'); -- two; of them\n"
DOWN = "drop table discount;"


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.execute("create table item (name text)")
        database.commit()
    return f"sqlite:{tmp_path / 'shop.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def run(address: str, query: str) -> list[Any]:
    if address.startswith("sqlite:"):
        with closing(sqlite3.connect(address.removeprefix("sqlite:"))) as file:
            return file.execute(query).fetchall()
    import psycopg

    with psycopg.connect(address) as server:
        return server.execute(query).fetchall()


def migrate(address: str, up: str, down: str = DOWN, key: str = "k1") -> Receipt:
    return tool("sql").call({"database": address, "up": up, "down": down}, key, 30.0, signed=True)


def test_a_migration_is_applied_once_and_its_down_script_takes_it_back(database: str) -> None:
    arguments = {"database": database, "up": UP, "down": DOWN}
    assert tool("sql").look(arguments, "k1") is None
    for _ in range(2):
        assert migrate(database, UP).status == "done"
    assert [tuple(r) for r in run(database, "select * from discount")] == [("a;b",)]
    looked = tool("sql").look(arguments, "k1")
    assert looked is not None and looked.status == "done"
    assert migrate(database, DOWN, UP, "k2").status == "done"
    assert migrate(database, UP, key="k3").status == "done", "it can be applied anew, as another proposal"
    assert migrate(database, DOWN, UP, "k4").status == "done"
    run(database, "select * from referee_migration where key in ('k1', 'k2', 'k3', 'k4')")


@pytest.mark.parametrize(
    "up",
    [
        "create table half (a text); insert into nowhere values (1);",
        "create table half (a text); commit; create table other (a text);",
        "create table half (a text); rollback; create table other (a text);",
        "create table half (a text); begin; commit;",
        "create table half (a text); select nonsense(",
    ],
)
def test_a_migration_that_fails_or_would_end_its_transaction_changes_nothing(database: str, up: str) -> None:
    receipt = migrate(database, up, key="k9")
    assert receipt.status == "failed" and "nothing was changed" in receipt.said
    with pytest.raises(Exception, match="half"):
        run(database, "select * from half")
    assert tool("sql").look({"database": database, "up": up, "down": DOWN}, "k9") is None


@pytest.mark.parametrize("up", ["attach 'other.db' as other;", "pragma journal_mode = delete;", "vacuum;"])
def test_a_sqlite_migration_stays_in_its_file_and_its_transaction(sqlite: str, up: str) -> None:
    assert migrate(sqlite, up).status == "failed"


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert migrate(f"sqlite:{tmp_path / 'none.db'}", UP).status == "failed"
    assert list(tmp_path.iterdir()) == []
    looked = tool("sql").look({"database": f"sqlite:{tmp_path / 'none.db'}", "up": UP, "down": DOWN}, "k")
    assert looked is not None and looked.status == "unknown"


def test_an_address_with_a_password_is_named_and_never_written() -> None:
    with pytest.raises(UsageError, match="holds no password"):
        tool("sql").describe({"database": "postgresql://a:b@localhost/x", "up": UP, "down": DOWN})
    with pytest.raises(UsageError, match="SHOP_DB is not set"):
        tool("sql").call({"database": "env:SHOP_DB", "up": UP, "down": DOWN}, "k", 5.0, signed=True)


# --- mail ----------------------------------------------------------------------------------------------------


def mail(post: Post, *to: str, **more: Any) -> Receipt:
    arguments = {"server": "127.0.0.1", "port": post.port, "sender": "shop@example.invalid", "to": to}
    return tool("mail").call({**arguments, "subject": "Hello", "body": "Text\n", **more}, "k1", 10.0, signed=True)


def test_mail_is_handed_over_with_the_key_as_its_id(post: Post) -> None:
    receipt = mail(post, "ann@example.invalid", "bob@example.invalid")
    assert receipt.status == "done"
    [envelope] = post.taken
    assert envelope.rcpt_tos == ["ann@example.invalid", "bob@example.invalid"]
    assert b"Message-ID: <k1@example.invalid>" in envelope.content
    assert receipt.facts["message_id"] == "<k1@example.invalid>"


def test_who_signs_a_mail_sees_which_secrets_the_server_is_told() -> None:
    arguments = {"server": "mail.example.invalid", "sender": "a@example.invalid", "to": ["b@example.invalid"]}
    told = {"subject": "x", "body": "", "user": "env:TOKEN", "password": "env:SHOP_KEY"}
    shown = tool("mail").describe({**arguments, **told})
    assert "Login: env:TOKEN, env:SHOP_KEY" in shown.detail
    assert "is told what TOKEN and SHOP_KEY holds here" in shown.impact
    assert "Login: none, no password" in tool("mail").describe({**arguments, "subject": "x", "body": ""}).detail


def test_mail_that_is_refused_has_failed_and_one_refused_in_part_says_so(post: Post) -> None:
    receipt = mail(post, "ann@example.invalid", "nobody@example.invalid")
    assert receipt.status == "done" and "refused for nobody@example.invalid" in receipt.said
    assert mail(post, "nobody@example.invalid").status == "failed"
    post.answer = "554 no"
    assert mail(post, "ann@example.invalid").status == "failed"
    assert len(post.taken) == 1


def test_mail_without_a_server_has_failed_and_one_cut_off_is_unknown(post: Post) -> None:
    assert mail(Post(port=1), "ann@example.invalid").status == "failed"
    looked = tool("mail").look(
        {"server": "s", "sender": "a@example.invalid", "to": ["b@example.invalid"], "subject": "x", "body": ""}, "k7"
    )
    assert looked is not None and looked.status == "unknown" and "<k7@example.invalid>" in looked.check


@pytest.mark.parametrize(
    "more",
    [
        {"subject": "a\r\nBcc: eve@example.invalid"},
        {"sender": "shop"},
        {"to": ["a@example.invalid\nBcc: e@example.invalid"]},
        {"to": []},
        {"password": "hunter2"},
    ],
)
def test_mail_refuses_headers_in_disguise_and_passwords(post: Post, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^mail: "):
        mail(post, "ann@example.invalid", **more)
    assert post.taken == []
