"""What waits for a person: everything that an answer covers, and the ways to give one."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from referee import api
from referee.actions.accept import AcceptUnjudged
from referee.actions.tree import LandCommit, LandTree
from referee.domain.component import Tone, command, diff_review
from referee.domain.errors import UsageError
from referee.domain.question import NO, YES, Asked, Asking, Waiting
from referee.render.elements import Child, Html, el, join
from referee.render.parts import pill
from referee.render.review import review
from referee.web import live
from referee.web.frame import button, page, part
from referee.web.pages.words import moment

_LANDINGS = (LandTree.name, LandCommit.name, AcceptUnjudged.name)  # their text ends with git's own diff
_TONES = {"open": Tone.WARN, "answered": Tone.GOOD, "expired": Tone.QUIET}


def questions(request: Request) -> Response:
    """The list, what waits first."""
    found = api.questions(request.app.state.watch.root)
    waiting = sum(w.status == "open" for w in found)
    body = el("ul", *(_row(w) for w in found), class_="waiting") if found else _nothing()
    words = f"{waiting} waiting" if waiting else "Nothing waits for you."
    content = part("list", el("p", words, class_="quiet", data_said=words), body)
    return page(request, "Questions", el("h1", "Questions"), content, live="/questions/events")


def events(request: Request) -> StreamingResponse:
    """Tells when something was asked or answered."""
    watch = request.app.state.watch
    return live.events(watch.asked, lambda: False)


def question(request: Request) -> Response:
    """One question in full."""
    asked = _asked(request)
    content = part(
        "question",
        el("p", pill(asked.status, _TONES[asked.status]), f" {asked.kind.value}", class_="standing"),
        el("h1", asked.summary),
        _facts(asked),
        _given(asked),
        el("div", *_ways(request, asked), class_="acts"),
    )
    return page(request, asked.summary, content, part("shown", _shown(asked), title="What the answer is about"))


def answer(request: Request) -> Response:
    """Give an answer: only to the very question that was on the page."""
    asked, form = _asked(request), request.scope["form"]
    if form.get("digest") != asked.digest:
        raise UsageError(f"{asked.id} has changed since the page was loaded; read it again")
    root = request.app.state.watch.root
    if form.get("how") == "sign":
        if asked.demand.only_ssh:
            raise UsageError(f"a page cannot sign {asked.id}: it takes an SSH key; type: {command(asked)}")
        api.sign(asked.id, root, digest=asked.digest)
    else:
        api.answer(asked.id, form.get("text", ""), root)
    return RedirectResponse(f"/questions/{quote(asked.id)}", 303)


def _asked(request: Request) -> Asked:
    return api.question(request.path_params["question_id"], request.app.state.watch.root)


def _row(waiting: Waiting) -> Html:
    return el(
        "li",
        el("p", pill(waiting.status, _TONES[waiting.status]), " ", el("span", waiting.kind.value, class_="quiet")),
        el("p", el("a", waiting.summary, href=f"/questions/{quote(waiting.id)}")),
        el("p", el("code", waiting.id), " of ", _run(waiting.run_id), class_="quiet"),
        class_="approval",
    )


def _run(run_id: str) -> Html:
    return el("a", run_id, href=f"/runs/{quote(run_id)}")


def _nothing() -> Html:
    return el("p", "No run has asked anything yet.", class_="empty")


def _shown(asked: Asked) -> Html:
    """The whole text that the digest covers; for a landing the change as a diff, too."""
    whole = el("pre", asked.shown, tabindex=0)
    words, found, diff = asked.shown.partition("\ndiff --git ")
    if not found or asked.action not in _LANDINGS:
        return whole
    # The digest of a part would only be taken for the one that is signed.
    parts = diff_review(found.lstrip("\n") + diff).model_copy(update={"digest": ""})
    head = el("pre", words.rstrip("\n"), tabindex=0)
    return join([head, review(parts), el("h2", "The same, exactly as it is signed"), whole])


def _facts(asked: Asked) -> Html:
    facts: list[Child] = [el("code", asked.id), ["of ", _run(asked.run_id)], ["asked ", moment(asked.asked_at)]]
    if asked.kind is not Asking.QUESTION:
        facts.append(["counts until ", moment(asked.expires_at)])
    if asked.requester:
        facts.append(f"by {asked.requester}")
    digest = el("p", "Digest that an answer covers: ", el("code", asked.digest), class_="quiet digest")
    return join([el("p", *(el("span", f) for f in facts), class_="facts"), digest])


def _given(asked: Asked) -> Html | None:
    rows = [el("li", el("strong", a.text), f" {a.by}, {a.how}, ", moment(a.at)) for a in asked.answers]
    return el("ul", *rows) if rows else None


def _ways(request: Request, asked: Asked) -> list[Child]:
    """The buttons that fit, and where a page's word does not count, the command to type."""
    if asked.status != "open":
        return [el("span", "Go on with ", el("code", f"referee resume {asked.run_id}"))]
    path, fixed = f"/questions/{quote(asked.id)}/answer", {"digest": asked.digest}
    if asked.kind is Asking.QUESTION:
        return [_words(request, path, asked)]
    reject = button(request, path, "Reject", "reject", text=NO, **fixed)
    if asked.kind is Asking.APPROVAL:
        return [button(request, path, "Approve", "approve", text=YES, **fixed), reject]
    if asked.demand.only_ssh:
        people = f" {asked.demand.persons} people must sign." if asked.demand.persons > 1 else ""
        said = "Only an SSH key counts here; a click does not." + people + " To sign, type: "
        return [el("p", said, el("code", command(asked)), class_="why"), reject]
    sign = button(request, path, "Sign with the key of this machine", "sign", how="sign", **fixed)
    return [sign, reject, el("span", "Or type ", el("code", f"{command(asked)} --ssh-key FILE"))]


def _words(request: Request, path: str, asked: Asked) -> Html:
    options = el("ol", *(el("li", o) for o in asked.options)) if asked.options else None
    return el(
        "form",
        el("input", type="hidden", name="form_token", value=request.scope["form_token"]),
        el("input", type="hidden", name="digest", value=asked.digest),
        options,
        el("label", el("span", "Your answer"), el("input", type="text", name="text", required=True), class_="field"),
        el("button", "Answer", type="submit", id="answer"),
        method="post",
        action=path,
        class_="filter",
    )
