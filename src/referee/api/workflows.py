"""Reading a person's workflow file."""

from __future__ import annotations

import json
import os

from referee.config.files import read
from referee.domain.errors import UsageError
from referee.domain.workflow import Workflow


def read_workflow(file: str, arguments: str) -> Workflow:
    """The file as it is now. Raises `UsageError` if there is none, or if `arguments` are no JSON object."""
    text = read(file)
    if text is None:
        raise UsageError(f"there is no file {file}; name a Python file with a function main(flow)")
    try:
        given = json.loads(arguments)
    except ValueError as wrong:
        raise UsageError(f"--args is no valid JSON: {wrong}") from None
    if not isinstance(given, dict):
        raise UsageError('--args must be a JSON object, such as \'{"package": "attrs"}\'')
    return Workflow(path=os.path.abspath(file), text=text, arguments=given)
