"""In front of every page: the right host, the cookie, forms of our own, and headers that allow nothing foreign."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.adapters.loopback import Address, ours
from referee.web.entrance import Entrance
from referee.web.frame import bare

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # a form must say where it comes from
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
OPEN = ("/open", "/assets/")


class Guard:
    """Refuses whatever does not come from a page of ours in a browser of this user's."""

    def __init__(self, app: ASGIApp, entrance: Entrance, ours: Callable[[Address, Address], bool] = ours) -> None:
        self._app, self._entrance, self._ours = app, entrance, ours

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        answer = self._stranger(scope)
        if answer is None:
            answer = self._entered(request) if request.url.path == "/open" else self._refusal(request)
        if answer is None and request.method == "POST":
            answer = await self._foreign_form(request)
        if answer is None:
            cookie = request.cookies.get(self._entrance.cookie, "")
            scope["form_token"] = self._entrance.form_token(cookie)
        await (answer or self._app)(scope, receive, _with_headers(send))

    def _stranger(self, scope: Scope) -> Response | None:
        """Another user of this machine may have read the link or a cookie."""
        peer, here = scope.get("client"), scope.get("server")
        if peer and here and self._ours(tuple(peer), tuple(here)):
            return None
        return _said(403, "This page is for the user who started it.")

    def _entered(self, request: Request) -> Response:
        """The link from the terminal: a cookie for its token."""
        if refused := self._wrong_host(request.headers):
            return refused
        cookie = self._entrance.exchange(request.query_params.get("token", ""))
        if cookie is None:
            if self._entrance.knows(request.cookies.get(self._entrance.cookie, "")):
                return RedirectResponse("/", 303)
            return _said(403, "This link has been used, or is not the right one. Stop `referee ui` and start it again.")
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._entrance.cookie, cookie, httponly=True, samesite="strict", path="/")
        return answer

    def _refusal(self, request: Request) -> Response | None:
        if refused := self._wrong_host(request.headers):
            return refused
        if request.url.path.startswith(OPEN):
            return None
        if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _said(403, "This page can only be opened by itself, not from another site.")
        if not self._entrance.knows(request.cookies.get(self._entrance.cookie, "")):
            return _said(401, "Open the link that `referee ui` printed; it lets one browser in.")
        if request.method not in ("GET", "HEAD", "POST"):
            return _said(405, "This page knows GET and POST only.")
        return None

    def _wrong_host(self, headers: Headers) -> Response | None:
        """A name of somebody else's that leads to this machine is not ours (DNS rebinding)."""
        if headers.get("host", "") in self._entrance.hosts:
            return None
        return _said(421, "This page answers to 127.0.0.1 only.")

    async def _foreign_form(self, request: Request) -> Response | None:
        origin = request.headers.get("origin", "")
        if origin.removeprefix("http://") not in self._entrance.hosts or not origin.startswith("http://"):
            return _said(403, "This form was not sent by this page.")
        form = dict(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True))
        cookie = request.cookies.get(self._entrance.cookie, "")
        if not self._entrance.own_form(cookie, form.get("form_token", "")):
            return _said(403, "This form is out of date; go back and load the page again.")
        request.scope["form"] = form
        return None


def _said(status: int, words: str) -> Response:
    return HTMLResponse(bare("referee", words), status)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending
