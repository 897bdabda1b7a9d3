"""What commands print with --json: a page with each document's fields, and its JSON Schema as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import BaseModel
from shapes import document

from referee.domain.linted import LintReport
from referee.domain.mapped import MapReport
from referee.domain.planned import PlanReport
from referee.domain.report import AttackReport, ChainReport, CheckReport, DoctorReport, ReplayReport, Report, RunSummary
from referee.domain.resolution import Resolution
from referee.ports import Entry

DOCUMENTS: tuple[tuple[str, str, type[BaseModel]], ...] = (
    ("report", "referee fix --json, referee show RUN --json", Report),
    ("check", "referee check --json", CheckReport),
    ("doctor", "referee doctor --json", DoctorReport),
    ("plan", "referee check --plan --json", PlanReport),
    ("map", "referee check --map --json", MapReport),
    ("lint", "referee lint --json", LintReport),
    ("replay", "referee replay RUN --json", ReplayReport),
    ("attack", "referee doctor --attack --json", AttackReport),
    ("chain", "referee journal verify --json", ChainReport),
    ("run", "referee runs --json, one on each line", RunSummary),
    ("entry", "referee show RUN --journal, one on each line, without payload and with what was in it", Entry),
    ("deps", "referee deps --json", Resolution),
)
HEAD = """# Documents

Made from the code. Each is what a command prints with `--json`, with a JSON Schema beside it; keys may be added, none
changes its meaning. `referee validate report.schema.json report.json` checks one.
"""


def pages() -> Mapping[str, str]:
    """The page, and a schema for each document."""
    parts = [HEAD]
    made = {}
    for name, command, model in DOCUMENTS:
        schema = model.model_json_schema(mode="serialization", by_alias=True)
        made[f"{name}.schema.json"] = json.dumps(schema, indent=2) + "\n"
        parts += [f"## {name}", f"`{command}`. [JSON Schema]({name}.schema.json)", document(schema)]
    return {"documents.md": "\n\n".join(parts) + "\n", **made}
