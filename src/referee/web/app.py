"""The routes, and what each ending of ours looks like in a browser."""

from __future__ import annotations

from importlib import resources

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from referee.api.watching import Watch
from referee.domain.errors import RefereeError, UsageError
from referee.render.elements import el
from referee.web.entrance import Entrance
from referee.web.frame import page
from referee.web.guard import Guard
from referee.web.pages import compare, doctor, journal, memory, questions, run, runs, trace

_ASSETS = {
    "look.css": ("referee.render", "text/css"),
    "page.js": ("referee.web", "text/javascript"),
    "mark.svg": ("referee.web", "image/svg+xml"),
}
_BODY = 65_536  # bytes that a form may have


def application(watch: Watch, entrance: Entrance) -> Starlette:
    """The page, on an opened record."""
    routes = [
        Route("/", runs.runs),
        Route("/events", runs.events),
        Route("/runs/{run_id}", run.run),
        Route("/runs/{run_id}/events", run.events),
        Route("/runs/{run_id}/stop", run.stop, methods=["POST"]),
        Route("/runs/{run_id}/report.{form}", run.report),
        Route("/runs/{run_id}/journal", journal.journal),
        Route("/runs/{run_id}/trace", trace.trace),
        Route("/questions", questions.questions),
        Route("/questions/events", questions.events),
        Route("/questions/{question_id}", questions.question),
        Route("/questions/{question_id}/answer", questions.answer, methods=["POST"]),
        Route("/memory", memory.memory),
        Route("/compare", compare.compare),
        Route("/doctor", doctor.doctor),
        Route("/assets/{name}", _asset),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Guard, entrance=entrance)],
        exception_handlers={RefereeError: _fault, 404: _nowhere},
        max_body_size=_BODY,
    )
    app.state.watch, app.state.repository = watch, watch.root
    app.state.waiting = watch.waiting
    return app


def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        return Response("there is no such file", 404)
    package, media = _ASSETS[name]
    text = resources.files(package).joinpath("assets", name).read_text(encoding="utf-8")
    return Response(text, media_type=media)


async def _fault(request: Request, error: Exception) -> HTMLResponse:
    words = str(error)
    status = 400 if isinstance(error, UsageError) else 500
    if words.startswith(("there is no run", "there is no question")):
        status = 404
    return page(request, "Not possible", el("h1", "That is not possible"), el("p", words), status=status)


async def _nowhere(request: Request, error: Exception) -> HTMLResponse:
    return page(request, "Not found", el("h1", "There is no such page"), status=404)
