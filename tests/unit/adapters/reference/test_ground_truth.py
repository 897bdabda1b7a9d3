"""What is read from sources is what Python itself says: names, parameters, defaults, annotations."""

from __future__ import annotations

import os

import pytest
from ground_truth import differences

from referee.adapters.reference import read
from referee.domain.documented import Reference

FULL = (
    "click",
    "rich",
    "jinja2",
    "requests",
    "starlette",
    "sqlalchemy",
    "pydantic",
    "openai",
    "httpx",
    "attr",
    "anyio",
)
SMALL = ("packaging", "click", "requests", "idna", "iniconfig")
PACKAGES = FULL if os.environ.get("REFEREE_GROUND_TRUTH") else SMALL


@pytest.mark.parametrize("package", PACKAGES)
def test_source_and_python_agree(package: str) -> None:
    compared, found = differences(package)
    assert found == []
    assert compared > 3


def test_the_comparison_sees_a_difference() -> None:
    """A control: with other defaults read, the comparison says so."""

    def wrong(path: str, root: str) -> Reference:
        things = [
            t.model_copy(update={"parameters": tuple(p.model_copy(update={"default": "'x'"}) for p in t.parameters)})
            for t in read(path, root).things
        ]
        return Reference(things=tuple(things))

    assert differences("iniconfig", wrong)[1]
