"""The search over the real workspace, sandbox and judge."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import pytest
import search_corpus

from referee import api
from referee.config import load
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
pytestmark = pytest.mark.slow


def repository(root: Path, files: dict[str, bytes]) -> Path:
    """A git repository with the files, committed."""
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    env = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    for args in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run([*GIT, *args], cwd=root, check=True, capture_output=True, env=env)
    return root


def fix(root: Path, *targets: str, **flags: object) -> Outcome:
    config = load(str(root), flags={"generator": "search", **flags}, variables={}, user_file="")
    return api.fix(Task(repo=str(root), text="", targets=targets), config, None)


def module_of_tests(case: search_corpus.Case) -> bytes:
    checks = enumerate(case.checks)
    body = "".join(f"\n\ndef test_{n}():\n    assert {check}\n" for n, check in checks)
    return ("from shop.module import *\n" + body).encode()


@pytest.mark.parametrize("name", ["missing guard"])
def test_a_case_of_the_corpus_is_repaired_end_to_end(name: str, tmp_path: Path) -> None:
    [case] = [c for c in search_corpus.CASES if c.name == name]
    files = {
        "shop/__init__.py": b"",
        "shop/module.py": case.source.encode(),
        "tests/test_module.py": module_of_tests(case),
    }
    root = repository(tmp_path / "repo", files)
    outcome = fix(root)
    assert outcome.solved, outcome
    assert outcome.report.touched_files == ("shop/module.py",)
    assert case.fix in (root / "shop/module.py").read_text()


def test_two_faults_in_a_file_with_crlf_and_a_byte_order_mark_are_mended_together(tmp_path: Path) -> None:
    code = (
        "\ufeff# Längen in Zoll\r\ndef area(width, height):\r\n\treturn width + height\r\n\r\n\r\n"
        "def edge(width, height):\r\n\treturn 2 * (width - height)\r\n"
    )
    tests = textwrap.dedent(
        """
        from module import area, edge


        def test_area():
            assert area(3, 4) == 12


        def test_edge():
            assert edge(3, 4) == 14


        def test_square():
            assert area(2, 2) == 4
        """
    )
    root = repository(tmp_path / "repo", {"module.py": code.encode(), "tests/test_module.py": tests.encode()})
    outcome = fix(root)
    assert outcome.solved, outcome
    mended = code.replace("return width + height", "return width * height").replace("width - height", "width + height")
    assert (root / "module.py").read_bytes() == mended.encode()


def test_an_edit_that_breaks_another_test_is_not_landed(tmp_path: Path) -> None:
    """The target alone is met by many edits; the suite at the gate tells them apart."""
    code = "def sign(x):\n    if x > 0:\n        return 1\n    return 1\n"
    tests = (
        "from module import sign\n\n\ndef test_minus():\n    assert sign(-5) == -1\n\n\n"
        "def test_plus():\n    assert sign(5) == 1\n"
    )
    root = repository(tmp_path / "repo", {"module.py": code.encode(), "tests/test_module.py": tests.encode()})
    outcome = fix(root, "tests/test_module.py::test_minus")
    assert outcome.solved, outcome
    namespace: dict[str, object] = {}
    exec((root / "module.py").read_text(), namespace)
    sign = namespace["sign"]
    assert callable(sign)
    assert (sign(-5), sign(5)) == (-1, 1)


def test_what_may_be_overfitted_says_so_and_is_kept_back_where_that_is_wished(tmp_path: Path) -> None:
    """Two changes in different places meet the only test; nothing says which one is right."""
    code = "def price(net, tax):\n    base = net - 1\n    gross = base + tax\n    return gross - 1\n"
    tests = "from module import price\n\n\ndef test_price():\n    assert price(5, 2) == 6\n"
    root = repository(tmp_path / "repo", {"module.py": code.encode(), "tests/test_module.py": tests.encode()})
    outcome = fix(root, allow_overfitted=False)
    assert outcome.stop_reason is StopReason.NEEDS_SIGNATURE, outcome
    assert "do not tell them apart" in outcome.report.doubt
    assert outcome.report.alternatives and outcome.diff and outcome.report.exit == 4
    assert (root / "module.py").read_text() == code
    patch = next((root / ".harness/reports").glob("*.patch"))
    subprocess.run(["git", "apply", "--check", str(patch)], cwd=root, check=True)
    allowed = fix(root)
    assert allowed.solved and allowed.report.doubt
    assert (root / "module.py").read_text() != code


def test_an_example_in_a_docstring_decides_between_edits_that_pass(tmp_path: Path) -> None:
    """The suite runs no doctest. The target alone is met by `!=` and by `>=`; only the second keeps the example."""
    code = (
        'def fee(weight):\n    """What a parcel costs.\n\n    >>> fee(2)\n    4\n    """\n'
        "    if weight > 5:\n        return 9\n    return 4\n"
    )
    tests = (
        "from module import fee\n\n\ndef test_five():\n    assert fee(5) == 9\n\n\n"
        "def test_seven():\n    assert fee(7) == 9\n\n\ndef test_six():\n    assert fee(6) == 9\n"
    )
    root = repository(tmp_path / "repo", {"module.py": code.encode(), "tests/test_module.py": tests.encode()})
    outcome = fix(root)
    assert outcome.solved, outcome
    assert "1 examples" not in outcome.report.analysis and "1 example " in outcome.report.analysis
    namespace: dict[str, object] = {}
    exec((root / "module.py").read_text(), namespace)
    fee = namespace["fee"]
    assert callable(fee)
    assert (fee(2), fee(5), fee(7)) == (4, 9, 9)
