"""Whatever the source looks like, an edit changes its own span and nothing else, and the order is the seed's alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "unit/authors/search"))

from search_sites import hot, source

from referee.authors.search.answer import proposal
from referee.authors.search.generate import candidates
from referee.authors.search.pool import Pool
from referee.authors.search.source import Source, compiled
from referee.authors.search.trial import Trial
from referee.domain.patch import FileContent
from referee.domain.resolve import resolve

NAMES = ("a", "b", "größe", "items", "名")
_names = st.sampled_from(NAMES)
_atoms = st.one_of(
    _names,
    st.integers(-3, 300).map(str),
    st.sampled_from(
        ("None", "True", "[]", '"é"', "'{a}'", "f'{a} ü {b!r}'", "items[1:]", "a.size", "len(items)", "(a)")
    ),
)
_operators = st.sampled_from(("+", "-", "*", "//", "%", "<", "<=", "==", "in", "is not", "and", "or", " + "))


def _expressions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, _operators, inner).map(lambda t: f"{t[0]} {t[1]} {t[2]}"),
        inner.map(lambda e: f"({e})"),
        inner.map(lambda e: f"not({e})"),
        inner.map(lambda e: f"(\n            {e}  # ö\n        )"),
        st.tuples(_names, inner, inner).map(lambda t: f"{t[0]}({t[1]}, k={t[2]})"),
        st.tuples(inner, inner).map(lambda t: f"[{t[0]} for x in ({t[1]}) if x]"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
    )


_expression = st.recursive(_atoms, _expressions, max_leaves=5)


@st.composite
def _blocks(draw: st.DrawFn, depth: int = 0) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        e = draw(_expression)
        kind = draw(st.integers(0, 7 if depth < 2 else 4))
        name = draw(_names)
        simple = (
            f"{name} = {e}",
            f"{name} += {e}",
            f"{name}.append({e})  # ü",
            f"return {e}",
            f"assert {e}; {name} = 1",
        )
        if kind < 5:
            lines.append(simple[kind])
            continue
        head = (f"if {e}:", f"for {name} in ({e}):", f"while {e}:")[kind - 5]
        lines += [head, *("\t" + line for line in draw(_blocks(depth + 1)))]
    return lines


@st.composite
def sources(draw: st.DrawFn) -> Source:
    """A module with one function and a constant, in any of the ways files are written."""
    body = draw(_blocks())
    unit = draw(st.sampled_from(("    ", "\t", "  ")))
    lines = ["RATE = 3", "", "def f(a, b=[], *items, größe=1, 名=2):", *("\t" + line for line in body)]
    text = "\n".join(line.replace("\t", unit) for line in lines)
    text += draw(st.sampled_from(("", "\n", "\n\n# end\n")))
    text = text.replace("\n", draw(st.sampled_from(("\n", "\r\n"))))
    found = Source.load("m.py", (draw(st.sampled_from(("", "\ufeff"))) + text).encode())
    assume(found is not None)  # a few combinations, such as `a == not(b)`, are not Python
    assert found is not None
    return found


_few = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@_few
@given(sources())
def test_nothing_outside_the_splices_changes_and_what_the_pool_gives_compiles(where: Source) -> None:
    text = where.text
    met = set()
    for candidate in Pool(hot(where)).take(60):
        new = candidate.apply(text)
        assert compiled(new.removeprefix("\ufeff")) is not None
        dump = ast.dump(ast.parse(new.removeprefix("\ufeff")))
        assert dump != ast.dump(where.tree)
        assert dump not in met, "the same program twice"
        met.add(dump)
        kept, at = [], 0
        for s in candidate.splices:
            assert at <= s.start <= s.end <= len(text)
            kept.append(text[at : s.start])
            at = s.end
        kept.append(text[at:])
        position = 0
        for piece, s in zip(kept, (*candidate.splices, None), strict=True):
            assert new.startswith(piece, position)
            position += len(piece) + (len(s.text) if s else 0)
        assert position == len(new)


@_few
@given(sources())
def test_a_proposal_resolves_to_exactly_the_bytes_that_were_judged(where: Source) -> None:
    data = where.text.encode()
    for candidate in Pool(hot(where)).take(20):
        trial = Trial((candidate,))
        made = proposal(trial, lambda path: where, ("t.py::t",), ())
        patch = resolve(made, lambda path: data, lambda path: False)
        assert patch == trial.patch(lambda path: where, lambda path: False)
        assert patch.changes[0].after == FileContent(data=candidate.apply(where.text).encode())


@_few
@given(sources(), st.integers(0, 5))
def test_the_order_is_the_same_for_the_same_seed(where: Source, seed: int) -> None:
    again = source(where.text)
    assert Pool(hot(where), seed).take(40) == Pool(hot(again), seed).take(40)


@_few
@given(sources())
def test_added_lines_end_as_the_files_lines_do(where: Source) -> None:
    crlf = "\r\n" in where.text
    for h in hot(where):
        for candidate in candidates(h)[:300]:
            new = candidate.apply(where.text)
            if crlf:
                assert "\n" not in new.replace("\r\n", "")
            else:
                assert "\r" not in new
