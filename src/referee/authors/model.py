"""An author that is a model: brief in, one checked proposal out (E1)."""

from __future__ import annotations

from referee.authors.asking import Asker, Declined, Question, Voice
from referee.authors.suspects import Suspects, nowhere
from referee.context.prompt import Prompt, Role, render, system
from referee.context.schema import proposal_schema
from referee.domain.brief import Brief, Offer
from referee.domain.finding import Finding, FindingKind
from referee.domain.proposal import PatchProposal
from referee.domain.strict_json import parse, refused
from referee.kernel.run import Run

__all__ = ["ModelAuthor", "Voice"]


class ModelAuthor:
    """Asks a model for a proposal."""

    def __init__(self, voice: Voice, suspects: Suspects = nowhere) -> None:
        self._role: Role = voice.role
        self._asker, self._suspects = Asker(voice), suspects

    @property
    def name(self) -> str:
        """The role and the model, such as `fixer openai:gpt-5-mini`."""
        return self._asker.name

    def propose(self, run: Run, brief: Brief) -> Offer:
        """One offer. Raises `Exhausted`: the budget's reason, or `schema_failure` after the last retry."""
        prompt = render(brief, lambda path: run.read(brief.base, path), run.paths(brief.base), self._suspects(run))
        question = Question(
            system=system(self._role),
            text=prompt.text,
            reply_schema=proposal_schema(),
            reply_name="patch_proposal",
            wanted="valid proposal",
            pressed=brief.pressed,
        )
        try:
            proposal = self._asker.ask(run, question, lambda text: _checked(text, prompt))
        except Declined as refusal:
            finding = Finding(kind=FindingKind.UNAPPLIABLE, check="reply", message=str(refusal))
            return Offer(author=self.name, note=str(refusal), findings=(finding,))
        return Offer(author=self.name, proposal=proposal)


def _checked(text: str, prompt: Prompt) -> PatchProposal:
    """The proposal in a reply. Raises `Rejected` for what is wrong with its form."""
    proposal = parse(text, PatchProposal)
    for file in proposal.files:
        # To replace a whole file one must have read the whole file (case G13).
        if file.action == "modify" and file.content is not None and file.path in prompt.parts:
            raise refused(f"{file.path} was shown to you in part, so `content` cannot replace it; use `edits`")
    return proposal
