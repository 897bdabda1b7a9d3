"""Which parts of the shell are on: all of them, but in an experiment that shows what each is worth."""

from __future__ import annotations

from referee.domain.value import Value


class Parts(Value):
    """No file, variable or option sets these: only `referee bench` and programs do, and every report then says so.

    Without `judge` the author's own word counts and nothing is checked; without `gate` the loop's checks are enough;
    without `protection` tests and the judge's configuration may be changed; without `patience` the loop goes on
    although the same failure comes again; without `rollback` the last proposal stays in the user's files although it
    failed.
    """

    judge: bool = True
    gate: bool = True
    protection: bool = True
    patience: bool = True
    rollback: bool = True

    @property
    def off(self) -> tuple[str, ...]:
        """The names of those that are switched off."""
        return tuple(name for name, on in self.model_dump().items() if not on)


ALL = Parts()
