"""The server: six tools on one repository, chosen when it starts; a client gets no more than the settings allow."""

# Annotations are evaluated as they are met: the library reads them, and one names a function of its own scope.
from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp.server.apps import Apps, client_supports_apps
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from referee import __version__, api
from referee.config import Config, load
from referee.domain.cost import Budget
from referee.domain.report import CheckReport, Outcome
from referee.domain.task import Task
from referee.mcp import results as r
from referee.mcp import views
from referee.mcp.work import told
from referee.render import text
from referee.render.app import APP, VIEW, document

_ABOUT = (
    "Repairs and checks one git repository. `check` says whether the tree passes; `fix` makes a failing test pass in "
    "an isolated copy and writes files only if every check passes; `sandbox` tries a command on a throw-away copy."
)
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)
_UNDOES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
Ctx = Context[Any, Any]
RunId = Annotated[str, Field(description="A run's id, as `runs` lists them.")]


class Consent(BaseModel):
    """A person's answer."""

    agree: bool = Field(description="Whether it may happen.")


def serve(repo: str) -> None:
    """Serve until standard input ends."""
    server(repo).run("stdio")


def server(repo: str) -> MCPServer[Any]:
    """The server for a repository."""
    apps = Apps()
    apps.add_html_resource(APP, document(), title="A result of referee", prefers_border=True)
    for name, shown, hints in (
        ("check", _check(repo), _READS),
        ("show", _show(repo), _READS),
        ("fix", _fix(repo), _WRITES),
    ):
        apps.tool(resource_uri=APP, name=name, annotations=hints)(shown)
    made: MCPServer[Any] = MCPServer(
        "referee", instructions=_ABOUT, version=__version__, log_level="WARNING", extensions=[apps]
    )
    for name, tool, hints in (
        ("sandbox", _sandbox(repo), _READS),
        ("runs", _runs(repo), _READS),
        ("rollback", _rollback(repo), _UNDOES),
    ):
        made.tool(name, annotations=hints)(tool)
    return made


def _fix(repo: str) -> Callable[..., Any]:
    async def fix(
        ctx: Ctx,
        task: Annotated[str, Field(description="What is wrong, in a sentence.")] = "",
        targets: Annotated[list[str] | None, Field(description="Ids of tests that fail now.")] = None,
        land: Annotated[Literal["tree", "none"], Field(description="Write the files, or only show the diff.")] = "tree",
        max_steps: Annotated[int | None, Field(ge=1, description="At most; never more than configured.")] = None,
        timeout: Annotated[float | None, Field(gt=0, description="Seconds; never more than configured.")] = None,
    ) -> Annotated[CallToolResult, r.Fixed]:
        """Repair what fails: propose, check in isolation, repeat inside a budget; write only what passes every check.

        Takes minutes. Not for new features, and not where no test or check fails: use your own editing there.
        """
        config = bounded(load(repo), max_steps, timeout, land)
        asked = Task(repo=repo, text=task, targets=tuple(targets or ()))
        outcome = await told(ctx, lambda progress: api.fix(asked, config, progress))
        return _answer(r.Fixed.of(outcome), text(outcome.report) + "\n" + r.cut(outcome.diff), _view(ctx, outcome))

    return fix


def _check(repo: str) -> Callable[..., Any]:
    async def check(
        ctx: Ctx, changed: Annotated[bool, Field(description="Only what differs from HEAD.")] = False
    ) -> Annotated[CallToolResult, r.Checked]:
        """Run the repository's checks (format, types, tests) on the tree as it is; changes nothing.

        The way to know whether it works. Not for one quick command: use sandbox.
        """
        report = await told(ctx, lambda progress: api.check(repo, None, progress, changed=changed))
        answer = r.Checked.of(report)
        words = "\n".join(("passed" if answer.passed else "failed", *answer.layers, answer.feedback))
        return _answer(answer, words, _view(ctx, report))

    return check


def _sandbox(repo: str) -> Callable[..., Any]:
    async def sandbox(
        ctx: Ctx,
        argv: Annotated[list[str], Field(min_length=1, description="The program and its arguments; no shell.")],
        timeout: Annotated[float | None, Field(gt=0, description="Seconds; never more than configured.")] = None,
    ) -> Annotated[CallToolResult, r.Ran]:
        """Run one command on a throw-away copy of the repository: no network, no credentials, no write outlives it.

        Not for changes that should stay: nothing does.
        """
        config = _inside(bounded(load(repo), None, timeout, "none"))
        answer = r.Ran.of(await told(ctx, lambda progress: api.sandbox(tuple(argv), repo, config, progress)))
        ended = f"killed: {answer.killed_by}" if answer.killed_by else f"exit code {answer.exit_code}"
        return _answer(answer, f"{answer.stdout}{answer.stderr}\n[{ended}; {answer.isolation}]")

    return sandbox


def _runs(repo: str) -> Callable[..., Any]:
    async def runs(
        ctx: Ctx, limit: Annotated[int, Field(ge=1, le=100, description="How many, newest first.")] = 20
    ) -> Annotated[CallToolResult, r.Runs]:
        """List what was repaired here, newest first. Not for details: use show."""
        found = await told(ctx, lambda progress: api.runs(repo))
        rows = tuple(r.RunRow.of(row) for row in found[:limit])
        words = [f"{row.run_id}  {row.stop_reason or row.status}  {row.task}" for row in rows]
        words.append(f"{len(rows)} of {len(found)} runs")
        return _answer(r.Runs(total=len(found), runs=rows), "\n".join(words))

    return runs


def _show(repo: str) -> Callable[..., Any]:
    async def show(ctx: Ctx, run: RunId) -> Annotated[CallToolResult, r.Fixed]:
        """Show the report and the diff of one run. Not for the list of runs: use runs."""
        outcome = await told(ctx, lambda progress: api.show(run, repo))
        return _answer(r.Fixed.of(outcome), text(outcome.report) + "\n" + r.cut(outcome.diff), _view(ctx, outcome))

    return show


def _rollback(repo: str) -> Callable[..., Any]:
    async def ask(ctx: Ctx, run: str) -> Elicit[Consent]:
        able = ctx.client_capabilities
        if able is None or able.elicitation is None:
            raise ToolError(
                f"a person decides about this, and your client cannot ask one; type: referee rollback {run}"
            )
        outcome = await told(ctx, lambda progress: api.show(run, repo))
        files = ", ".join(outcome.report.touched_files) or "no file"
        return Elicit(f"Undo what run {run} wrote ({files})? Files changed since stay as they are.", Consent)

    async def rollback(
        ctx: Ctx, run: RunId, answer: Annotated[ElicitationResult[Consent], Resolve(ask)]
    ) -> Annotated[CallToolResult, r.RolledBack]:
        """Undo what a run wrote, byte for byte; a person is asked first.

        Not for your own edits: only what a run wrote, where nobody changed it since.
        """
        if not (isinstance(answer, AcceptedElicitation) and answer.data.agree):
            return _answer(
                r.RolledBack(outcome="declined"), "the person declined; nothing was changed, do not ask again"
            )
        done = r.RolledBack.of(await told(ctx, lambda progress: api.rollback(run, repo)))
        words = [f"restored {p}" for p in done.restored] + [f"kept {p}, changed since" for p in done.kept]
        words += [f"failed {p}" for p in done.failed]
        return _answer(done, "\n".join(words or ["this run wrote nothing"]))

    return rollback


def _inside(config: Config) -> Config:
    """The settings without hosts that may be reached: clients let a tool that only reads run without asking."""
    closed = config.sandbox.model_copy(update={"allow_domains": (), "inject": ()})
    return config.model_copy(update={"sandbox": closed})


def bounded(config: Config, max_steps: int | None, timeout: float | None, land: str) -> Config:
    """The settings with what a client asks for, where that is less than they allow.

    What they land elsewhere than in the files is not landed at all: a client may not decide for another place.
    """
    budget = config.budget
    update = {
        "max_steps": min(budget.max_steps, max_steps or budget.max_steps),
        "timeout": min(budget.timeout, timeout or budget.timeout),
    }
    lands = config.land if land != "none" and config.land in ("tree", "commit") else "none"
    return config.model_copy(update={"budget": Budget(**(budget.model_dump() | update)), "land": lands})


def _view(ctx: Ctx, told: Outcome | CheckReport) -> dict[str, Any] | None:
    """What a client that shows views is given; nothing for others."""
    if not client_supports_apps(ctx):
        return None
    return {VIEW: views.of_run(told) if isinstance(told, Outcome) else views.of_check(told)}


def _answer(data: BaseModel, words: str, view: dict[str, Any] | None = None) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=words.strip())],
        structured_content=data.model_dump(mode="json"),
        _meta=view,
    )
