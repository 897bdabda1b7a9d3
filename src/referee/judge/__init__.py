"""The judge: layered checks, a report that cannot be forged, a sceptical ruling, compressed failures."""

from referee.judge.bench import Bench
from referee.judge.checks import Check
from referee.judge.choose import checks_for
from referee.judge.compress import compress
from referee.judge.examine import examine
from referee.judge.facts import edition
from referee.judge.fresh import Fresh, fresh
from referee.judge.held_out import HeldOut, held_out
from referee.judge.home import home
from referee.judge.linted import linted, with_linter
from referee.judge.outline import outline
from referee.judge.prepare import prepare, standing
from referee.judge.project import Project, Scope, Tool, detect
from referee.judge.pytest_config import test_patterns
from referee.judge.settings import CheckSpec, Ignore, Settings
from referee.judge.spectrum import Spectrum, Trace, spectrum
from referee.judge.trial import named_tests, screen, try_gate, try_loop

__all__ = [
    "Bench",
    "Check",
    "CheckSpec",
    "Fresh",
    "HeldOut",
    "Ignore",
    "Project",
    "Scope",
    "Settings",
    "Spectrum",
    "Tool",
    "Trace",
    "checks_for",
    "compress",
    "detect",
    "edition",
    "examine",
    "fresh",
    "held_out",
    "home",
    "linted",
    "named_tests",
    "outline",
    "prepare",
    "screen",
    "spectrum",
    "standing",
    "test_patterns",
    "try_gate",
    "try_loop",
    "with_linter",
]
