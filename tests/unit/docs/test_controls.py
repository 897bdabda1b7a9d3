"""The map of controls names only what is there, and is what its data say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parents[3] / "docs" / "security"
# How many requirements each section of AISVS 1.0 has: C9.1 to C9.6, C10.1 to C10.4.
SECTIONS = {"9.1": 3, "9.2": 10, "9.3": 8, "9.4": 4, "9.5": 6, "9.6": 3, "10.1": 3, "10.2": 7, "10.3": 5, "10.4": 8}


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    found = importlib.util.spec_from_file_location("controls_maker", HERE / "make.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_every_requirement_is_answered_once_and_names_what_exists(maker: ModuleType) -> None:
    _, entries = maker.controls()
    assert [e["id"] for e in entries] == [f"{s}.{n}" for s, most in SECTIONS.items() for n in range(1, most + 1)]
    assert maker.faults(entries) == []
    assert maker.PAGE.read_text() == maker.page(), "run python docs/security/make.py"


def test_what_is_not_there_is_a_fault(maker: ModuleType) -> None:
    _, (first, *_) = maker.controls()
    for wrong in (
        {"code": ["src/referee/nothing.py"]}, {"tests": [f"{first['tests'][0]}_not"]}, {"tests": []},
        {"state": "done"}, {"but": "nearly"},
    ):  # fmt: skip
        assert maker.faults([{**first, **wrong}]), wrong
    assert maker.faults([first, first])
