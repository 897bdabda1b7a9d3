"""Components for an MCP client that shows them (MCP Apps): one document for all results, and what is put into it."""

from __future__ import annotations

from importlib import resources

from referee.domain.component import Component, Tone
from referee.render.elements import Html, el, join
from referee.render.html import look
from referee.render.parts import markup, pill

APP = "ui://referee/result"
VIEW = "referee/view"  # in a result's `_meta`: not for the model, which has the text and the data


def view(title: str, state: tuple[str, Tone], *parts: tuple[str, Component]) -> Html:
    """What a client shows of a result: how it ended, and its components under their titles."""
    sections = [el("section", el("h2", name), markup(component)) for name, component in parts]
    return join([el("p", pill(*state)), el("h1", title), *sections])


def document() -> str:
    """The document that a client loads once, with its own style and script; nothing in it is loaded from elsewhere."""
    script = resources.files("referee.render").joinpath("assets", "app.js").read_text(encoding="utf-8")
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", "referee"),
        el("style", Html(look())),
    )
    body = el("body", el("main", el("p", "Waiting for the result.", class_="quiet")), el("script", Html(script)))
    return "<!doctype html>\n" + el("html", head, body, lang="en") + "\n"
