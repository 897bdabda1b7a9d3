"""What other packages add: the example as if it were installed, and what is refused."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from rooms import Bench

from referee import plugins as seen
from referee.authors.search import operators
from referee.authors.search.clues import clues
from referee.authors.search.generate import Heat, Hot, candidates
from referee.authors.search.ingredients import Ingredients, gather
from referee.authors.search.regions import regions
from referee.authors.search.source import Source
from referee.config import Config, load
from referee.domain.errors import UsageError
from referee.judge.readers import Output, reader
from referee.ports import ModelRequest
from referee.tools import toolbox
from referee.wiring.models import open_model

EXAMPLE = Path(__file__).parents[3] / "examples" / "plugin"


def install(folder: Path, name: str, points: dict[str, dict[str, str]]) -> None:
    """What an installer leaves of a package's entry points."""
    info = folder / f"{name.replace('-', '_')}-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    rows = [f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in named.items()) for group, named in points.items()]
    (info / "entry_points.txt").write_text("\n".join(rows))


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An environment in which the example is installed, and nothing else is."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    install(tmp_path / "site", project["name"], project["entry-points"])
    monkeypatch.setattr(seen, "_places", lambda: (str(tmp_path / "site"),))
    monkeypatch.syspath_prepend(EXAMPLE / "src")
    forget()
    yield tmp_path / "site"
    forget()
    for name in [n for n in sys.modules if n.partition(".")[0] == "referee_example"]:
        del sys.modules[name]


def forget() -> None:
    """Look anew at what is installed."""
    seen._installed.cache_clear()
    operators.every.cache_clear()
    operators._by_kind.cache_clear()
    toolbox.every.cache_clear()


def test_a_model_is_opened_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text("the answer")
    model = open_model(f"canned:{tmp_path}/answer", Config())
    price = model.price()
    assert price is not None and price.input == 0
    request = ModelRequest(role="generator", system="", messages=(), max_tokens=9)
    assert model.call(request).content == "the answer"


def test_a_reader_reads_a_check_of_one_s_own(tmp_path: Path) -> None:
    settings = '[[check]]\nlayer = "L0"\nrun = ["grep", "-rn", "TODO", "src"]\nreader = "todo"\n'
    (tmp_path / "own.toml").write_text(settings)
    [check] = load(str(tmp_path), variables={}, user_file=str(tmp_path / "own.toml")).checks
    read = reader(check.reader)
    assert read is not None
    said = Output(check="c", root="/r", stdout="src/a.py:3:  # TODO: mend it\n", stderr="", exit_code=0)
    [finding] = read(said).findings
    assert (finding.path, finding.line, finding.message) == ("src/a.py", 3, "mend it")
    assert read(said.model_copy(update={"exit_code": 2})).strange


def test_an_operator_is_tried_by_the_search() -> None:
    text = "def share(total, people):\n    return total / people\n"
    where = Source.load("m.py", text.encode())
    assert where is not None
    heat, known = Heat(lines={}, uniform=1.0), Ingredients(here=gather([where.tree]), tests=clues([], "", ()).tests)
    tried = [c for r in regions(where) for c in candidates(Hot(region=r, heat=heat, ingredients=known))]
    assert text.replace("total / people", "round(total / people, 2)") in {
        c.apply(text) for c in tried if c.operator == "rounded"
    }


def test_a_tool_can_be_called_by_an_agent() -> None:
    bench = Bench({"a.py": "one\ntwo\n"})
    assert bench.call("count_lines", path="a.py").text == "a.py: 2 lines"
    assert bench.call("count_lines", path="b.py").outcome == "failed"
    assert bench.call("count_lines", path="../../etc/passwd").outcome != "done"
    assert toolbox.known("count_lines")


@pytest.mark.parametrize(
    ("points", "use", "words"),
    [
        ({"referee.models": {"canned": "other:Model"}}, lambda: open_model("canned:x", Config()), "both add 'canned'"),
        ({"referee.models": {"gone": "no_such_module:X"}}, lambda: open_model("gone:x", Config()), "cannot be loaded"),
        ({"referee.models": {"none": "builtins:len"}}, lambda: open_model("none:x", Config()), "made no model"),
        ({"referee.tools": {"bash": "referee.tools.shell:bash"}}, toolbox.every, "is no new tool"),
        ({"referee.operators": {"x": "builtins:len"}}, operators.every, "is no new operator"),
    ],
)
def test_what_cannot_be_used_is_refused_by_the_name_of_its_package(
    environment: Path, points: dict[str, dict[str, str]], use: object, words: str
) -> None:
    install(environment, "broken-one", points)
    forget()
    with pytest.raises(UsageError, match=words) as refused:
        use()  # type: ignore[operator]
    assert "broken-one" in str(refused.value)


def test_a_repository_adds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution that lies on the path, as in the folder where `python -m referee` is typed, is not looked at."""
    install(tmp_path / "repo", "planted", {"referee.models": {"planted": "os:system"}})
    monkeypatch.syspath_prepend(tmp_path / "repo")
    monkeypatch.chdir(tmp_path / "repo")
    forget()
    assert "planted" not in seen.plugins("models")
    from importlib.metadata import entry_points

    assert entry_points(group="referee.models", name="planted"), "a control: it is on the path"
