"""The commands by name."""

from __future__ import annotations

from typing import Annotated

import typer

from referee import __version__
from referee.cli.commands import (
    acp,
    agent,
    answer,
    bench,
    check,
    db,
    demo,
    deps,
    docs,
    doctor,
    export,
    fix,
    gc,
    hooks,
    insights,
    journal,
    lint,
    mcp,
    memory,
    propose,
    questions,
    replay,
    resume,
    rollback,
    runs,
    sandbox,
    schedule,
    servers,
    show,
    sign,
    stop,
    ui,
    validate,
    worker,
    workflow,
)

app = typer.Typer(
    name="referee",
    help="A harness for coding agents: the model plays, the referee decides. Start with: referee demo",
    no_args_is_help=True,
    # Plain help costs a third of formatted help in start-up time.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"referee {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


app.command("demo")(demo.demo)
app.command("fix")(fix.fix)
app.command("agent")(agent.agent)
app.command("check")(check.check)
app.command("sandbox", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})(
    sandbox.sandbox
)
app.command("docs")(docs.docs)
app.command("doctor")(doctor.doctor)
app.command("deps")(deps.deps)
app.command("lint")(lint.lint)
app.command("validate")(validate.validate)
app.command("runs")(runs.runs)
app.command("show")(show.show)
app.command("replay")(replay.replay)
app.command("resume")(resume.resume)
app.command("questions")(questions.questions)
app.command("answer")(answer.answer)
app.command("sign")(sign.sign)
app.command("rollback")(rollback.rollback)
app.command("gc")(gc.gc)
app.command("mcp")(mcp.mcp)
app.command("acp")(acp.acp)
app.command("ui")(ui.ui)
app.command("export")(export.export)
app.command("insights")(insights.insights)
app.add_typer(propose.propose, name="propose")
app.add_typer(journal.journal, name="journal")
app.add_typer(db.db, name="db")
app.add_typer(memory.memory, name="memory")
app.add_typer(hooks.hooks, name="hooks")
app.add_typer(schedule.schedule, name="schedule")
app.command("worker")(worker.worker)
app.command("stop")(stop.stop)
app.command("workflow")(workflow.workflow)
app.add_typer(servers.servers, name="servers")
app.add_typer(bench.bench, name="bench")
