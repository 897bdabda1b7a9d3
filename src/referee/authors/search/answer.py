"""From a trial that passes to the proposal that is offered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from referee.authors.search.source import Source
from referee.authors.search.trial import Trial
from referee.domain.edits import Misfit
from referee.domain.edits import splice as edited
from referee.domain.proposal import Edit, PatchProposal, ProposedFile

_RATIONALE, _CAUSE, _ANALYSIS = 400, 500, 2000
_AROUND = 12  # lines


def proposal(
    trial: Trial, sources: Callable[[str], Source], targets: Sequence[str], remarks: Sequence[str]
) -> PatchProposal:
    """The trial as a proposal, explained from the edit itself."""
    files = []
    for path, text in sorted(trial.contents(sources).items()):
        said = "; ".join(p.describe(sources(path)) for p in trial.parts if p.path == path)
        files.append(_file(sources(path), text, trial, said))
    described = trial.describe(sources)
    return PatchProposal(
        analysis=_cut("Found by search, without a model. " + " ".join(remarks), _ANALYSIS),
        root_cause=_cut(described, _CAUSE),
        files=tuple(files),
        test_targets=tuple(targets),
        risk="low" if len(trial.parts) == 1 and trial.size <= 40 else "medium",
    )


def _file(source: Source, text: str, trial: Trial, said: str) -> ProposedFile:
    rationale = _cut(said, _RATIONALE)
    edit = _edit(source, trial)
    if edit is not None and _makes(source, edit, text):
        return ProposedFile(path=source.path, action="modify", edits=(edit,), rationale=rationale)
    return ProposedFile(path=source.path, action="modify", content=text, rationale=rationale)


def _makes(source: Source, edit: Edit, text: str) -> bool:
    """Whether the edit, read as the resolver reads it, gives exactly the bytes that were judged."""
    try:
        return edited(source.encoded(source.text), (edit,)) == source.encoded(text)
    except Misfit:
        return False


def _edit(source: Source, trial: Trial) -> Edit | None:
    """The change with what is around it, as little as makes it unique in the file."""
    splices = trial.splices()[source.path]
    for start, end in _frames(source, splices[0].start, splices[-1].end):
        old = source.text[start:end]
        if old and source.text.find(old) == source.text.rfind(old):
            new = old
            for s in reversed(splices):
                new = new[: s.start - start] + s.text + new[s.end - start :]
            return Edit(old=_plain(old), new=_plain(new))
    return None


def _frames(source: Source, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Whole lines, more and more of them; where only ASCII can be changed, as far as there is nothing else."""
    top, bottom = source.line_at(first), source.line_at(max(first, last - 1))
    for around in range(_AROUND):
        start = source.line_start(max(1, top - around))
        end = source.line_end(min(bottom + around, source.lines))
        if source.narrow and not source.text[start:end].isascii():
            while not source.text[start:first].isascii():
                start += 1
            while not source.text[last:end].isascii():
                end -= 1
        yield start, end


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
