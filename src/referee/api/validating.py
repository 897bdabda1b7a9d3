"""Documents held against a schema, or against a model of the repository's, whose code runs in the sandbox."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from referee.adapters.schema import Document, documents, schema
from referee.api.tools import sandbox
from referee.config import Config, load
from referee.domain.errors import UsageError
from referee.domain.violation import Validation, Violation, place
from referee.ports import Progress

_MODEL = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")
_PIECE = 100_000  # characters of one argument; the kernel refuses 128 KiB
_MOST = 1_000_000  # characters of all arguments
# Runs inside, with the project's own pydantic. The last line is the answer: what the module prints comes before it.
_INSIDE = """
import importlib, json, sys
sys.path[:0] = ["", "src"]
module, _, name = sys.argv[1].partition(":")
found = importlib.import_module(module)
for part in name.split("."):
    found = getattr(found, part)
from pydantic import TypeAdapter, ValidationError
adapter, said = TypeAdapter(found), []
for text in json.loads("".join(sys.argv[2:])):
    try:
        adapter.validate_json(text)
        said.append([])
    except ValidationError as wrong:
        said.append([[e["loc"], e["msg"]] for e in wrong.errors(include_url=False, include_context=False)])
print("\\n" + json.dumps(said))
"""


def validate(
    wanted: str,
    files: Sequence[str],
    repo: str = ".",
    config: Config | None = None,
    progress: Progress | None = None,
) -> Validation:
    """Hold `files` against a schema file, or against `module:Model`, a pydantic model of the repository's.

    Raises `UsageError` for a schema that is none, and for files or models that cannot be read.
    """
    read = [documents(file) for file in files]
    found = [v for _, wrong in read for v in wrong]
    all_documents = [d for good, _ in read for d in good]
    if wanted.endswith((".json", ".toml")) or not _MODEL.fullmatch(wanted):
        held = schema(wanted)
        found += [v for d in all_documents for v in held.violations(d)]
    elif all_documents:
        found += _by_model(wanted, all_documents, repo, config or load(repo), progress)
    return Validation(valid=not found, violations=tuple(found))


def _by_model(
    wanted: str, read: Sequence[Document], repo: str, config: Config, progress: Progress | None
) -> list[Violation]:
    text = json.dumps([json.dumps(d.value) for d in read])
    if len(text) > _MOST:
        raise UsageError(f"more than {_MOST} characters are too much for a model at once; give it fewer files")
    pieces = (text[i : i + _PIECE] for i in range(0, len(text), _PIECE))
    ended = sandbox(("python", "-B", "-c", _INSIDE, wanted, *pieces), repo, config, progress)
    lines = ended.stdout.decode("utf-8", "replace").strip().splitlines()
    if ended.exit_code != 0 or not lines:
        last = ended.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [ended.killed_by or "no output"]
        raise UsageError(f"{wanted} cannot be used in the sandbox: {last[0]}")
    try:
        said: list[list[tuple[list[int | str], str]]] = json.loads(lines[-1])
        return [
            Violation(file=document.shown, path=place(tuple(path)), message=" ".join(str(words).split()))
            for document, errors in zip(read, said, strict=True)
            for path, words in errors
        ]
    except (ValueError, TypeError) as wrong:
        raise UsageError(f"{wanted} gave no readable answer in the sandbox") from wrong
