"""What is around every page: the head, the way around, and forms."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse

from referee.render.elements import Child, Html, el, join

PLACES = (
    ("/", "Runs"),
    ("/questions", "Questions"),
    ("/compare", "Compare"),
    ("/memory", "Memory"),
    ("/doctor", "Doctor"),
)


def page(request: Request, title: str, *content: Child, live: str = "", status: int = 200) -> HTMLResponse:
    """A whole page. `live` is the path of the events that tell when it should be looked at again."""
    app = request.app.state
    waiting = app.waiting()
    links = (_link(path, name, request.url.path, waiting) for path, name in PLACES)
    top = el(
        "header",
        el("a", "Skip to the content", href="#content", class_="skip"),
        el("a", el("span", class_="mark", aria_hidden="true"), "referee", href="/", class_="brand"),
        el("nav", el("ul", *links), aria_label="Main"),
        el("code", app.repository.rpartition("/")[2], class_="repository", title=app.repository),
        el("button", "Theme", id="theme", type="button", hidden=True),
        class_="top",
    )
    main = el("main", *content, id="content", tabindex=-1, data_live=live or None)
    said = el("p", id="said", role="status", class_="unseen")
    return HTMLResponse(_document(f"{title} · referee", join([top, main, said])), status)


def _link(path: str, name: str, here: str, waiting: int) -> Html:
    inside = here == path or (path == "/" and here.startswith("/runs")) or (path != "/" and here.startswith(path))
    count = (
        el("span", str(waiting), class_="count", aria_label=f"{waiting} waiting")
        if name == "Questions" and waiting
        else None
    )
    return el("li", el("a", name, count, href=path, aria_current="page" if inside else None))


def bare(title: str, words: str) -> str:
    """A page with nothing but words, for whoever is not let in."""
    return _document(title, el("main", el("h1", title), el("p", words), class_="bare"))


def _document(title: str, body: Html) -> str:
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("link", rel="icon", href="/assets/mark.svg", type="image/svg+xml"),
        el("link", rel="stylesheet", href="/assets/look.css"),
        el("script", Html(""), src="/assets/page.js", defer=True),
    )
    return "<!doctype html>\n" + el("html", head, el("body", body), lang="en")


def button(request: Request, action: str, words: str, name: str = "", **fields: str) -> Html:
    """A form that is one button."""
    hidden = [el("input", type="hidden", name=n, value=v) for n, v in fields.items()]
    token = el("input", type="hidden", name="form_token", value=request.scope["form_token"])
    press = el("button", words, type="submit", id=name or None)
    return el("form", token, *hidden, press, method="post", action=action, class_="act")


def part(name: str, *content: Child, title: str = "") -> Html:
    """A part of a page that is replaced when something changes."""
    heading = el("h2", title, id=f"{name}-title") if title else None
    label = f"{name}-title" if title else None
    return el("section", heading, *content, id=name, data_part=True, aria_labelledby=label)
