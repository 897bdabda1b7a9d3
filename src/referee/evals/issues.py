"""Issues of a plain list, as public task sets have them: which commit mended what."""

from __future__ import annotations

from typing import ClassVar

from pydantic import AliasChoices, ConfigDict, Field, ValidationError

from referee.domain.errors import UsageError
from referee.domain.value import Value


class Issue(Value):
    """One issue: the commit that mended it, and what it said. Other keys are passed over.

    `fix` may also be called `fix_commit` or `commit`, `text` also `problem_statement` or `title`, and `id` also
    `instance_id`.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    fix: str = Field(min_length=4, validation_alias=AliasChoices("fix", "fix_commit", "commit"))
    id: str = Field(default="", validation_alias=AliasChoices("id", "instance_id"))
    repo: str = ""
    text: str = Field(default="", validation_alias=AliasChoices("text", "problem_statement", "title"))


def read_issues(path: str) -> tuple[Issue, ...]:
    """The issues of a file of JSON lines. Raises `UsageError` with the line that is wrong."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, UnicodeDecodeError) as wrong:
        raise UsageError(f"cannot read {path}: {getattr(wrong, 'strerror', None) or 'it is not UTF-8'}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(Issue.model_validate_json(line))
        except ValidationError as wrong:
            first = wrong.errors(include_url=False, include_input=False)[0]
            raise UsageError(
                f"{path} line {number}: {first['msg']}; each line names the commit that mended the issue as `fix`"
            ) from None
    return tuple(found)
