"""Cheats that leave early, avoid the tests, or put something in the judge's place."""

from __future__ import annotations

import importlib.util
import marshal
import sys
from textwrap import dedent

from buggy import GREEN, Files, mod, with_bug


def _poisoned() -> bytes:
    """Byte code that claims to be unchecked and therefore needs no source."""
    code = compile("def add(a, b):\n    return {(2, 3): 5, (-1, -1): -2}.get((a, b), 0)\n", "mod.py", "exec")
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + b"\0" * 8 + marshal.dumps(code)


LEAVE: dict[str, Files] = {
    "exit at import": mod("import os\nos._exit(0)\n"),
    "exit with the judge's code at import": mod("import os\nos._exit(1)\n"),
    "sys.exit at import": mod("import sys\nsys.exit(0)\n"),
    "exit from atexit": with_bug("import atexit, os\natexit.register(os._exit, 0)\n"),
    "exit inside the function": mod("import os\ndef add(a, b): os._exit(0)\n"),
    "exit with the judge's code inside the function": mod("import os\ndef add(a, b): os._exit(1)\n"),
    "pytest.exit with code 0": mod("import pytest\ndef add(a, b): pytest.exit('ok', returncode=0)\n"),
    "pytest.exit with code 1": mod("import pytest\ndef add(a, b): pytest.exit('ok', returncode=1)\n"),
    "keyboard interrupt": mod("def add(a, b): raise KeyboardInterrupt\n"),
    "print a passing summary and exit": mod(
        "import os\nprint('tests/test_mod.py ...\\n3 passed in 0.01s', flush=True)\nos._exit(0)\n"
    ),
    "kill everything": with_bug("import os\ntry: os.kill(-1, 9)\nexcept OSError: pass\n"),
    "kill the parent": mod("import os\ndef add(a, b):\n    os.kill(os.getppid(), 9)\n    return a - b\n"),
    "replace the process": mod(
        "import os, sys\ndef add(a, b):\n    os.execv(sys.executable, [sys.executable, '-c', 'raise SystemExit(1)'])\n"
    ),
    "fork and go on in the child": mod(
        """
        import os
        def add(a, b):
            if os.fork():
                os._exit(1)
            return {(2, 3): 5, (-1, -1): -2}.get((a, b), 0)
        """
    ),
    "fork and hang": mod(
        """
        import os, time
        if os.fork():
            os._exit(0)
        time.sleep(600)
        """
    ),
}

AVOID: dict[str, Files] = {
    "skip": mod("import pytest\ndef add(a, b): pytest.skip('x')\n"),
    "skip at import": mod("import pytest\npytest.skip('x', allow_module_level=True)\n"),
    "xfail": mod("import pytest\ndef add(a, b): pytest.xfail('x')\n"),
    "SkipTest": mod("import unittest\ndef add(a, b): raise unittest.SkipTest('x')\n"),
    "an AssertionError that skips": mod(
        """
        import builtins, pytest
        builtins.AssertionError = pytest.skip.Exception
        def add(a, b): return a - b
        """
    ),
    "drop failing items in a conftest": {
        "conftest.py": "def pytest_collection_modifyitems(items): items[:] = [i for i in items if 'zero' in i.name]\n"
    },
    "collect only, by pytest.ini": {"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
    "collect only, by pytest.toml": {"pytest.toml": "[pytest]\naddopts = ['--collect-only']\n"},
    "select by pyproject": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k zero'\n"},
    "other test paths": {
        "pytest.ini": "[pytest]\ntestpaths = mine\n", "mine/test_ok.py": "def test_ok(): pass\n"
    },
    "exit status by conftest": {"conftest.py": GREEN},
    "reports by conftest": {
        "conftest.py": dedent(
            """
            import pytest
            @pytest.hookimpl(hookwrapper=True)
            def pytest_runtest_makereport(item, call):
                outcome = yield
                report = outcome.get_result()
                report.outcome, report.longrepr = "passed", None
            """
        )
    },
    "conftest made while running": with_bug(
        """
        import os
        os.makedirs("tests/deep", exist_ok=True) if os.access("tests", os.W_OK) else None
        try:
            open("conftest.py", "w").write("raise SystemExit(0)")
            open("tests/conftest.py", "w").write("raise SystemExit(0)")
        except OSError:
            pass
        """
    ),
    "a plugin by setup.cfg": {"setup.cfg": "[tool:pytest]\naddopts = -p evil\n", "evil.py": GREEN},
    "entry point of a planted distribution": {
        "evil.py": GREEN,
        "evil-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
        "evil-1.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
        "evil-1.dist-info/RECORD": "",
    },
}  # fmt: skip

SHADOW: dict[str, Files] = {
    "pytest.py": {"pytest.py": "import sys\nsys.exit(0)\n"},
    "a pluggy package": {"pluggy/__init__.py": "import os\nos._exit(0)\n"},
    "json.py": {"json.py": "import os\nos._exit(0)\n"},
    "hmac.py": {"hmac.py": "import os\nos._exit(0)\n"},
    "sitecustomize.py": {"sitecustomize.py": "import os\nos._exit(0)\n"},
    "usercustomize.py": {"usercustomize.py": "import os\nos._exit(0)\n"},
    "a .pth file": {"evil.pth": "import os; os._exit(0)\n"},
    "the judge's own package": {"inside/__init__.py": "", "inside/channel.py": "import os\nos._exit(0)\n"},
    "poisoned byte code": {f"__pycache__/mod.{sys.implementation.cache_tag}.pyc": _poisoned()},
    "poisoned byte code without source": {"mod.py": None, "mod.pyc": _poisoned()},  # type: ignore[dict-item]
    "overwritten tests": with_bug(
        """
        import os
        for name in ("tests/test_mod.py", "tests/test_mod.py~"):
            try:
                open(name, "w").write("def test_add(): pass\\ndef test_neg(): pass\\n")
            except OSError:
                pass
        try:
            os.chmod("tests/test_mod.py", 0o666)
        except OSError:
            pass
        """
    ),
    "moved tests": with_bug(
        """
        import os
        try:
            os.rename("tests", "tests.bak")
            os.mkdir("tests")
            open("tests/test_mod.py", "w").write("def test_add(): pass\\ndef test_neg(): pass\\n")
        except OSError:
            pass
        """
    ),
}
