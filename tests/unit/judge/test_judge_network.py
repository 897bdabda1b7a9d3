"""Only the checks that the user names reach anything, and the report tells what they tried."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from judge_lab import Lab, opened

from referee.domain.destination import destination
from referee.domain.layer import Layer
from referee.domain.verdict import CheckState
from referee.judge import CheckSpec, Settings, examine

ASK = """
import os, sys, urllib.request, urllib.error
if "http_proxy" not in os.environ: sys.exit(7)
try: urllib.request.urlopen("http://evil.example/", timeout=5)
except urllib.error.HTTPError as e: sys.exit(0 if e.code == 403 else 8)
"""
FILES = {
    "ask.py": ASK,
    "tests/test_env.py": "import os\ndef test_it():\n    assert not [n for n in os.environ if 'proxy' in n.lower()]\n",
}


@pytest.mark.parametrize("named", (True, False))
def test_named_checks_reach_what_is_listed_and_no_others(tmp_path: Path, named: bool) -> None:
    run = (sys.executable, "ask.py")
    specs = (CheckSpec(layer=Layer.TYPES, run=run, name="audit"), CheckSpec(layer=Layer.TYPES, run=run, name="other"))
    settings = Settings(checks=specs, egress=(destination("good.example"),), connected=("audit",) if named else ())
    sandbox = opened()
    lab = Lab(tmp_path, FILES, sandbox)
    try:
        results = {r.check: r for r in examine(lab.run, lab.project(), lab.base, settings)}
    finally:
        lab.close()
        sandbox.close()
    assert results["other"].exit_code == 7, "a check that is not named has no proxy"
    assert results["audit"].exit_code == (0 if named else 7)
    assert results["pytest-suite"].state is CheckState.PASS, "tests never have one"
    said = "the check audit was refused evil.example:80: it is not on the list of allowed destinations"
    assert lab.notes == ([said] if named else [])
