"""The pages of the Python interface, by referee's own `referee docs`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import referee
from referee import api
from referee.domain.documented import Documented, Reference, by_module
from referee.render.markdown import cell
from referee.render.reference import pages as rendered

SOURCE = Path(referee.__file__).parent
PACKAGES = ("referee", "referee.api", "referee.config", "referee.ports", "referee.testing")
VALUES = ("task", "report", "planned", "resolution", "documented", "errors", "reason")
HEAD = """# Python

Made from the source by `referee docs`. A program calls `referee.fix` or what `referee.api` offers; ports and fakes are
for who brings an adapter of their own.

```python
from referee import Task, fix

outcome = fix(Task(repo=".", targets=("tests/test_cart.py::test_discount",)))
print(outcome.solved, outcome.stop_reason, outcome.diff)
```
"""


def pages() -> Mapping[str, str]:
    """A page for each module, and one that lists them. What a package offers is told there, wherever it is defined."""
    reference = api.docs(str(SOURCE), str(SOURCE))
    modules = {name: things for name, things in by_module(reference.things).items() if _shown(name)}
    here = [t.model_copy(update={"target": ""}) for things in modules.values() for t in things]
    made = rendered(Reference(things=tuple(here)))
    rows = [f"* [`{name}`](python/{name}.md){_about(things[0])}" for name, things in modules.items()]
    inner = {f"python/{name}": text for name, text in made.items() if name != "index.md"}
    return {"python.md": HEAD + "\n" + "\n".join(rows) + "\n", **inner}


def _shown(name: str) -> bool:
    return name in PACKAGES or name in [f"referee.domain.{value}" for value in VALUES]


def _about(module: Documented) -> str:
    first = (module.docstring or "").strip().partition("\n")[0]
    return f": {cell(first)}" if first else ""
