"""`referee agent` without a task: a conversation, each line a run of its own that lands and can be undone by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from referee.cli.output import shown
from referee.domain.cost import Cost
from referee.domain.errors import Cancelled, RefereeError
from referee.render.plain import line as flat
from referee.render.plain import plain
from referee.render.shown import presented
from referee.render.words import dollars, headline

if TYPE_CHECKING:
    from referee.config import Config
    from referee.domain.report import Outcome

KEPT = 6  # exchanges that the next task is told of
KEPT_CHARS = 1_500
COMPACT_CHARS = 160
HELP = """\
/budget  what is spent and left      /diff   the last change        /undo  take the last change back
/skills  skills of the repository    /memory what is remembered     /compact  shorten what was said
/quit    leave (also Ctrl-D)         anything else is a task"""


@dataclass(kw_only=True)
class Chat:
    """`act` runs one task, `resume` goes on with a run, `ask` asks the person, `say` shows.

    The budget is that of the whole conversation.
    """

    repo: str
    config: Config
    act: Callable[[str, Config], Outcome]
    resume: Callable[[str], Outcome]
    ask: Callable[[str], str]
    say: Callable[[str], None]
    said: list[tuple[str, str]] = field(default_factory=list)
    runs: list[Outcome] = field(default_factory=list)
    spent: Cost = field(default_factory=Cost)

    def line(self, text: str) -> bool:
        """Take one line in; False if the conversation is over. A fault of one task does not end it."""
        words = text.strip()
        if words.startswith("/"):
            return self._command(words.split()[0])
        if words:
            try:
                self._task(words)
            except (RefereeError, Cancelled) as wrong:
                self.say(f"referee: {plain(str(wrong))}")
        return True

    def _task(self, text: str) -> None:
        outcome = self.act(self._told(text), self._rest())
        if outcome.stop_reason.value == "needs_signature":
            outcome = self._decided(outcome)
        report = outcome.report
        self.spent = self.spent + Cost(steps=report.steps, tokens=report.tokens, usd=report.cost_usd)
        self.runs.append(outcome)
        self.said.append((text, report.answer or report.explanation))
        shown = "\n".join(line for p in report.presented for line in presented(p))
        self.say("\n".join(filter(None, (shown, plain(report.answer), flat(headline(report))))))

    def _decided(self, outcome: Outcome) -> Outcome:
        """Ask the person here and now; with neither a yes nor a no the run waits, as it would anywhere."""
        from referee import api

        run_id = outcome.report.run_id
        waiting = [q for q in api.questions(self.repo) if q.run_id == run_id and q.status == "open"]
        if not waiting or waiting[0].kind == "signature":
            self.say(f"waiting for a signature: referee questions, then referee resume {run_id}")
            return outcome
        self.say(plain(api.question(waiting[0].id, self.repo).shown))
        words = waiting[0].kind == "question"
        try:
            said = self.ask("your answer: " if words else f"{flat(waiting[0].summary)}: yes or no? ").strip()
        except (EOFError, KeyboardInterrupt):
            said = ""
        answer = said if words else {"y": "yes", "yes": "yes", "n": "no", "no": "no"}.get(said.lower())
        if not answer:
            form = "TEXT" if words else "yes|no"
            self.say(f"no answer, so it waits: referee answer {waiting[0].id} {form}, then referee resume {run_id}")
            return outcome
        api.answer(waiting[0].id, answer, self.repo)
        outcome = self.resume(run_id)
        return self._decided(outcome) if outcome.stop_reason.value == "needs_signature" else outcome

    def _told(self, text: str) -> str:
        """The task, after what was said before."""
        if not self.said:
            return text
        rows = [f"- asked: {q}\n  answered: {a[:KEPT_CHARS]}" for q, a in self.said[-KEPT:]]
        return f"{text}\n\nEarlier in this conversation (done, for reference):\n" + "\n".join(rows)

    def _rest(self) -> Config:
        """The settings with what is left of the conversation's budget."""
        budget = self.config.budget
        left = {
            "max_tokens": max(0, budget.max_tokens - self.spent.tokens),
            "max_cost_usd": max(budget.max_cost_usd - self.spent.usd, Cost().usd),
        }
        return self.config.model_copy(update={"budget": budget.model_copy(update=left)})

    def _command(self, name: str) -> bool:
        known = {
            "/budget": self._budget, "/diff": self._diff, "/undo": self._undo, "/skills": self._skills,
            "/memory": self._memory, "/compact": self._compact,
        }  # fmt: skip
        if name in ("/quit", "/exit"):
            return False
        try:
            known.get(name, lambda: self.say(HELP))()
        except RefereeError as wrong:
            self.say(f"referee: {plain(str(wrong))}")
        return True

    def _budget(self) -> None:
        budget, spent = self.config.budget, self.spent
        self.say(
            f"{spent.tokens:,} of {budget.max_tokens:,} tokens, {dollars(spent.usd)} of "
            f"{dollars(budget.max_cost_usd)}; "
            f"each task has {budget.timeout:g} s and {budget.max_steps} judged proposals"
        )

    def _diff(self) -> None:
        self.say(shown(self.runs[-1].diff) if self.runs and self.runs[-1].diff else "nothing was changed")

    def _undo(self) -> None:
        from referee import api

        landed = [o for o in self.runs if o.report.landed is not None and o.report.touched_files]
        if not landed:
            self.say("there is nothing to take back")
            return
        last = landed[-1]
        done = api.rollback(last.report.run_id, self.repo)
        self.runs.remove(last)
        kept = f"; changed since and kept: {', '.join(done.kept)}" if done.kept else ""
        self.say(f"taken back: {', '.join(done.restored) or 'nothing'}{kept}")

    def _skills(self) -> None:
        from referee import api

        found = api.skills(self.repo)
        self.say("\n".join(f"{plain(s.name)}: {plain(s.description)}" for s in found) or "there are no skills here")

    def _memory(self) -> None:
        from referee import api

        found, _ = api.memories(self.repo)
        self.say("\n".join(flat(s.memory.text) for s in found) or "nothing is remembered")

    def _compact(self) -> None:
        self.said = [(flat(q, COMPACT_CHARS), flat(a, COMPACT_CHARS)) for q, a in self.said]
        self.say(f"{len(self.said)} exchanges, shortened")
