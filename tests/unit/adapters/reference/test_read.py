"""Sources as they are written, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.adapters.reference import read
from referee.domain.documented import Documented, objections
from referee.domain.errors import UsageError

CORE = '''"""The core."""
from __future__ import annotations
import functools
from typing import overload

RATE: float = 0x10

def _hidden(): ...

class Thing:
    """A thing."""
    def name(self) -> str: """Its name."""

class Basket(Thing, metaclass = type):
    """A basket.

    Args:
        size: how many.
        colour: gone.
    """
    def __init__(self, size: int=1_000, /, *rest, key = ('a',"b")) -> None: ...

    @property
    def full(self) -> "bool": """Whether full."""

    @full.setter
    def full(self, value): ...

    @functools.lru_cache(maxsize = None)
    async def load(self): """Load."""

    class Inner:
        def deep(self, x:  dict[str,
                                int]): ...

@overload
def total(basket: Basket) -> int: ...
@overload
def total(basket: None) -> None: ...
def total(basket, rate=RATE, *, tax=lambda x: x):
    """Add up.

    Parameters
    ----------
    basket, cost : Basket
        What to add.
    """

def sphinx(a, **k):
    """Do.

    :param b: one of k.
    """

def old(a):
    """Do.

    :param a: it.
    :param b: not.
    :raises ValueError: never.
    """

other = total
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sources")
    for name, text in {
        "src/shop/__init__.py": "from ._inside import made\nfrom .core import *\nfrom os import path\n",
        "src/shop/core.py": CORE,
        "src/shop/_inside.py": "def made(x: int = 0o17): ...\n",
        "src/shop/broken.py": "def f(:\n",
        "src/shop/made.py": "raise SystemExit('imported')\ndef inside(): ...\n",
        "src/shop/deep.py": "x = " + "(" * 5000 + ")" * 5000,
        "src/shop/latin.py": "# coding: latin-1\ndef caf\xe9(a='\xfc'): ...\n",
        "src/space/part/__init__.py": "def there(): ...\n",
        "tests/test_x.py": "def test_x(): ...\n",
    }.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="latin-1" if "latin" in name else "utf-8")
    (root / "src/shop/stub.pyi").write_text("def only(a: int = ...) -> str: ...\n")
    return root


@pytest.fixture(scope="module")
def things(folder: Path) -> dict[str, Documented]:
    # A module may have the name of a function that its package offers.
    return {t.name + ("!" if t.kind == "module" else ""): t for t in read(str(folder), str(folder)).things}


def test_parameters_are_as_written(things: dict[str, Documented]) -> None:
    made = things["shop.core.Basket.__init__"]
    assert [(p.name, p.kind, p.annotation, p.default) for p in made.parameters] == [
        ("self", "positional-only", None, None),
        ("size", "positional-only", "int", "1_000"),
        ("rest", "variadic positional", None, None),
        ("key", "keyword-only", None, "('a',\"b\")"),
    ]
    assert (made.path, made.line, made.returns) == ("src/shop/core.py", 21, "None")
    deep = things["shop.core.Basket.Inner.deep"].parameters[1].annotation
    assert deep is not None and "".join(deep.split()) == "dict[str,int]" and "\n" in deep
    assert things["shop.latin.caf\xe9"].parameters[0].default == "'\xfc'"
    assert things["shop.stub.only"].parameters[0].default == "..."


def test_what_surrounds_a_definition_is_told(things: dict[str, Documented]) -> None:
    basket, total = things["shop.core.Basket"], things["shop.core.total"]
    assert basket.bases == ("Thing", "metaclass=type") and basket.inherited == ("shop.core.Thing.name",)
    assert [s.returns for s in total.overloads] == ["int", "None"] and total.parameters[2].default == "lambda x: x"
    full, load = things["shop.core.Basket.full"], things["shop.core.Basket.load"]
    assert (full.kind, full.returns, full.labels) == ("property", '"bool"', ("writable",))
    assert load.decorators == ("functools.lru_cache(maxsize = None)",) and "async" in load.labels
    assert things["shop.core.RATE"].value == "0x10"


def test_what_a_package_offers_has_its_name_too(things: dict[str, Documented]) -> None:
    assert things["shop.made"].target == "shop._inside.made" and things["shop.made"].parameters[0].default == "0o17"
    assert things["shop.total"].target == "shop.core.total"
    assert things["shop.Basket.full"].target == "shop.core.Basket.full"
    assert things["shop.core.other"].target == "shop.core.total"
    assert things["space.part.there"].kind == "function"
    assert not [n for n in things if "_hidden" in n or n.endswith(".path") or "_inside" in n or "test" in n]


def test_hidden_modules_are_still_documented(things: dict[str, Documented]) -> None:
    """`shop.made` is a function; the module of that name is there too, and was not run."""
    assert things["shop.made.inside"].path == "src/shop/made.py"


def test_one_module_keeps_its_full_name(folder: Path) -> None:
    found = read(str(folder / "src/shop/core.py"), str(folder)).things
    assert found[0].name == "shop.core" and {t.name.rpartition(".")[0] for t in found} >= {"shop.core"}
    assert all(t.name.startswith("shop.core") for t in found)


def test_docstrings_of_every_style_are_compared_with_the_code(folder: Path) -> None:
    said = [o.words for o in objections(read(str(folder), str(folder)))]
    wrong = [w for w in said if "no-such-parameter" in w]
    assert len(wrong) == 3
    for name, parameter in (("Basket", "colour"), ("total", "cost"), ("old", "b")):
        assert any(f"shop.core.{name} names the parameter {parameter}," in w for w in wrong)
    silent = [w for w in said if "undocumented" in w]
    assert any("shop.core.Basket.Inner.deep" in w for w in silent)
    assert not any(".__init__ " in w or "RATE" in w for w in silent)


def test_files_that_are_no_source_are_told(folder: Path) -> None:
    said = [o.words for o in objections(read(str(folder), str(folder))) if o.rule == "unreadable"]
    assert [w.split(":")[0] for w in said] == ["src/shop/broken.py", "src/shop/deep.py"]


@pytest.mark.parametrize("name", ["nothing", "tests"])
def test_a_place_without_modules_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(UsageError, match="name a"):
        read(str(folder / name), str(folder))
