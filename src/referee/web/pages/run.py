"""One run: how it stands, what it cost, its steps, the last objections and the change."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from referee import api
from referee.domain.component import budget_meter, diff_review, findings, timeline
from referee.domain.run_view import RunView
from referee.render import markdown
from referee.render.elements import Child, Html, el, join
from referee.render.parts import budget, found, rounds
from referee.render.review import review
from referee.render.words import REASONS
from referee.web import live
from referee.web.frame import button, page, part
from referee.web.pages.words import duration, moment, number, pager, standing, state

PER_PAGE = 100


def run(request: Request) -> Response:
    """The page."""
    view: RunView = request.app.state.watch.run(request.path_params["run_id"])
    title = view.summary.task or ", ".join(view.targets) or view.summary.run_id
    content = (
        _head(request, view, title),
        part("budget", budget(budget_meter(view.budget, view.spent)), title="Budget"),
        _steps(request, view),
        _findings(view),
        part("diff", review(diff_review(view.diff)), title="Change"),
        _notes(view),
    )
    return page(request, title, *content, live=f"/runs/{quote(view.summary.run_id)}/events")


def events(request: Request) -> StreamingResponse:
    """Tells when there is something new about the run."""
    watch, run_id = request.app.state.watch, request.path_params["run_id"]
    watch.state(run_id)  # an unknown run is told at once
    return live.events(lambda: watch.state(run_id), lambda: watch.state(run_id)[0] == "running")


def stop(request: Request) -> Response:
    """Ask the run to stop."""
    run_id = request.path_params["run_id"]
    request.app.state.watch.stop(run_id)
    return RedirectResponse(f"/runs/{quote(run_id)}", 303)


def report(request: Request) -> Response:
    """The report of an ended run as a file."""
    run_id, form = request.path_params["run_id"], request.path_params["form"]
    outcome = api.show(run_id, request.app.state.watch.root)
    if form == "json":
        text, media = outcome.report.model_dump_json(indent=2), "application/json"
    elif form == "md":
        text, media = markdown(outcome.report, outcome.diff), "text/markdown"
    elif form == "patch":
        text, media = outcome.diff, "text/plain"
    else:
        return Response("there is no such report", 404)
    name = f'attachment; filename="{run_id}.{form}"'
    data = text.encode("utf-8", "surrogateescape")
    return Response(data, media_type=media, headers={"content-disposition": name})


def tabs(view_id: str, here: str) -> Html:
    """The three pages of a run."""
    path = f"/runs/{quote(view_id)}"
    names = (("Overview", path), ("Journal", f"{path}/journal"), ("Trace", f"{path}/trace"))
    links = (el("li", el("a", n, href=p, aria_current="page" if n == here else None)) for n, p in names)
    return el("nav", el("ul", *links), class_="tabs", aria_label="Run")


def _head(request: Request, view: RunView, title: str) -> Html:
    summary = view.summary
    words, _ = state(summary)
    said = f"{words}, step {len(view.rounds)} of {view.budget.max_steps}"
    return join(
        [
            part(
                "standing",
                el("p", standing(summary), " ", _doing(view), class_="standing", data_said=said),
                el("h1", title),
                el("p", *_facts(view), class_="facts"),
                _why(view),
                el("div", *_acts(request, view), class_="acts"),
            ),
            tabs(summary.run_id, "Overview"),
        ]
    )


def _doing(view: RunView) -> Child:
    if view.stopping:
        return "asked to stop; it ends as soon as nothing is half written"
    if view.now:
        return [el("span", "now: ", class_="quiet"), el("code", view.now)]
    return REASONS[view.summary.stop_reason] if view.summary.stop_reason and not view.summary.solved else None


def _facts(view: RunView) -> list[Child]:
    facts: list[Child] = [el("code", view.summary.run_id), moment(view.summary.created), duration(view.spent.seconds)]
    if view.generator:
        facts.append(f"by {view.generator}")
    if view.isolation:
        facts.append(f"sandbox {view.isolation.backend}, {view.isolation.level}")
    if view.landed:
        revision = f" {view.landed.revision[:12]}" if view.landed.revision else ""
        facts.append(f"landed: {view.landed.how}{revision}")
    if view.usage.calls:
        facts.append(f"{view.usage.calls} model calls, {view.usage.hit_rate:.0%} of the input from a cache")
    return [el("span", fact) for fact in facts]


def _why(view: RunView) -> Html:
    return join([el("p", words, class_="why") for words in (view.explanation, view.analysis) if words])


def _acts(request: Request, view: RunView) -> list[Child]:
    summary, path = view.summary, f"/runs/{quote(view.summary.run_id)}"
    acts: list[Child] = []
    if summary.status == "running" and not view.stopping:
        acts.append(button(request, f"{path}/stop", "Stop this run", "stop"))
        acts.append(el("span", "Safe: nothing is left half written, and it can be resumed.", class_="quiet"))
    if summary.status in ("stopped", "waiting"):
        acts.append(el("span", "Go on with ", el("code", f"referee resume {summary.run_id}")))
    if summary.stop_reason is not None and summary.status == "done":
        names = (("md", "Markdown"), ("json", "JSON"), ("patch", "Patch"))
        links = [join([el("a", name, href=f"{path}/report.{form}", download=True), " "]) for form, name in names]
        acts += [el("span", "Report: ", *links), el("a", "Compare", href=f"/compare?a={quote(summary.run_id)}")]
        if summary.solved and view.landed and view.landed.how == "tree":
            acts.append(el("span", "Undo with ", el("code", f"referee rollback {summary.run_id}")))
    return acts


def _steps(request: Request, view: RunView) -> Html:
    """The newest steps; the earlier ones on pages of their own."""
    total = len(view.rounds)
    last = max(1, -(-total // PER_PAGE))
    at = min(number(request.query_params.get("page"), last), last)
    shown = view.rounds[(at - 1) * PER_PAGE : at * PER_PAGE]
    path = f"/runs/{quote(view.summary.run_id)}"
    inner: Child = rounds(timeline(shown, total)) if shown else el("p", "No step has been judged yet.", class_="quiet")
    count = f"{total} step" if total == 1 else f"{total} steps"
    return part("steps", el("p", count, class_="quiet") if total else None, inner, pager(path, at, last), title="Steps")


def _findings(view: RunView) -> Html | None:
    if view.findings:
        return part("findings", found(findings(view.findings)), title="Last findings")
    if view.feedback:
        return part("findings", el("pre", view.feedback, tabindex=0), title="Last findings")
    return part("findings")


def _notes(view: RunView) -> Html | None:
    both = [
        ("Targets", view.targets, True),
        ("Notes", view.notes, False),
        ("Other patches that passed", view.alternatives, False),
    ]
    lists = [
        join([el("h2", name), el("ul", *(el("li", el("code", i) if code else i) for i in items))])
        for name, items, code in both
        if items
    ]
    return part("notes", *lists)
