"""`referee lint`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options as o

if TYPE_CHECKING:
    from referee.domain.linted import LintReport


def lint(  # noqa: PLR0913 - one parameter per option is how typer reads them
    fix: Annotated[bool, typer.Option("--fix", help="Write the fixes; `referee rollback` undoes them.")] = False,
    repo: o.Repo = ".",
    python: o.Python = None,
    require_isolation: o.RequireIsolation = False,
    allow_degraded: o.AllowDegraded = False,
    wait: o.Wait = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Show what the linters' own fixes and the formatter would change, and what is left for an author. No model.

    They run in the sandbox, by the project's own configuration. Exit 0 if the files, as they are now, need nothing;
    4 if a person is asked before the fixes land.

    Example: referee lint --fix
    """
    config = o.settings(repo, {"python": python} | o.isolation_flag(require_isolation, allow_degraded))
    from referee import api
    from referee.cli.output import document, put, shown
    from referee.cli.running import running

    with running(quiet=quiet) as display:
        report = api.lint(repo, config, display, fix=fix, wait=display.note if wait else None)
    if json:
        document(report)
    else:
        put(shown(report.diff) + ("\n" if report.diff else "") + _text(report))
    raise typer.Exit(report.exit)


def _text(report: LintReport) -> str:
    from referee.render.plain import line

    rows = [line(f"{f.path}:{f.line}: {f.rule}: {f.message}", 300) for f in report.left]
    count = f"{len(report.fixed)} file" + ("s" if len(report.fixed) != 1 else "")
    if report.landed:
        rows.append(f"{count} fixed; undo with: referee rollback {report.run_id}")
    elif report.fixed and report.stop_reason and report.stop_reason.value == "base_moved":
        rows.append(f"{count} changed while the fixers worked; nothing was written, run it again")
    elif report.explanation and not report.passed:
        rows.append(line(report.explanation, 300))
    elif report.fixed:
        rows.append(f"{count} would be fixed; write them with: referee lint --fix")
    if report.left or report.clean:
        rows.append(f"{len(report.left)} findings are left for an author" if report.left else "nothing is left")
    return "\n".join(rows) + "\n"
