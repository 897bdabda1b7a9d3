"""Task lines become scenes: what is given and what is hidden."""

from __future__ import annotations

from pathlib import Path

import bugs
import pytest

from referee.domain.errors import UsageError
from referee.domain.patch import FileContent
from referee.evals.functions import put_back, without
from referee.evals.scene import scene
from referee.evals.task import BenchTask, read_tasks


def _files(**texts: str) -> dict[str, FileContent]:
    return {name.replace("__", "/") + ".py": FileContent(data=text.encode()) for name, text in texts.items()}


TASK = BenchTask(id="t", pkg="calc", old="1", fixed="2", file="calc.py", func="add", f2p=bugs.FAILING)


def test_every_second_function_is_hidden_and_cut_out() -> None:
    made = scene(TASK, _files(calc=bugs.NEW, tests__test_calc=bugs.MORE), _files(calc=bugs.OLD))
    assert (made.visible, made.hidden) == ((bugs.FAILING[0],), (bugs.FAILING[1],))
    given = {p: c.data.decode() for p, c in made.given.items()}
    assert given["calc.py"] == bugs.OLD
    assert "def test_add(" in given["tests/test_calc.py"]
    assert "test_add_nothing" not in given["tests/test_calc.py"]
    assert made.right["tests/test_calc.py"].data.decode() == bugs.MORE


def test_a_commits_source_goes_back_and_its_tests_stay() -> None:
    task = BenchTask(id="t", parent="1", fix="2", src=("calc.py", "new.py"), f2p=bugs.FAILING[:1])
    made = scene(task, _files(calc=bugs.NEW, new="X = 1\n", tests__test_calc=bugs.MORE), _files(calc=bugs.OLD))
    assert set(made.given) == {"calc.py", "tests/test_calc.py"}
    assert made.hidden == ()
    assert made.known["new.py"] is not None


def test_a_method_is_found_by_its_own_name_and_by_the_size_of_its_change() -> None:
    new = (
        "class A:\n    def f(self):\n        return 1\n\n\nclass B:\n    def f(self):\n        x=1\n        return 2\n"
    )
    old = "class A:\n    def f(self):\n        return 2\n\n\nclass B:\n    def f(self):\n        return 3\n"
    assert put_back(old, new, "A.f") == new.replace("return 1", "return 2")
    assert put_back(old, new, "f", added=2) == new.replace("        x=1\n        return 2\n", "        return 3\n")
    assert put_back(old, new, "f") is None
    assert put_back(new, new, "A.f") is None


def test_the_only_test_of_a_class_leaves_it_empty() -> None:
    text = "class TestA:\n    @mark\n    def test_a(self):\n        assert x\n\n\ndef test_b():\n    pass\n"
    assert without(text, {"TestA.test_a"}) == "class TestA:\n    pass\n\n\ndef test_b():\n    pass\n"


def test_tasks_that_would_be_called_alike_get_names_of_their_own(tmp_path: Path) -> None:
    line = TASK.model_copy(update={"id": ""}).model_dump_json()
    (tmp_path / "t.jsonl").write_text(f"{line}\n\n{line}\n")
    assert [t.id for t in read_tasks(str(tmp_path / "t.jsonl"))] == ["calc-2-add", "calc-2-add-2"]


@pytest.mark.parametrize(
    ("line", "said"),
    [("{", "line 1"), ('{"f2p": []}', "line 1: f2p"), ('{"f2p": ["t"], "fix": "1"}', "line 1: parent is missing")],
)
def test_a_line_that_is_no_task_is_named(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "t.jsonl").write_text(line)
    with pytest.raises(UsageError, match=said):
        read_tasks(str(tmp_path / "t.jsonl"))
