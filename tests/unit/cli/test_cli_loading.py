"""What is loaded before a model is first asked: only what the run needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from referee import api

HEAVY = ("griffe", "packaging.requirements", "pydantic_ai", "openai", "referee.authors.search")


def test_every_name_of_the_api_is_a_function_and_none_is_hidden_by_a_module() -> None:
    for name in api.__all__:
        assert callable(getattr(api, name)), name
    modules = {path.stem for path in Path(api.__file__).parent.iterdir()}
    assert not modules & set(api.__all__)


def test_an_agent_s_run_loads_no_library_that_it_does_not_use() -> None:
    loaded = f"import sys, referee.api.repairs; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
