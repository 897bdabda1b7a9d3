"""Selection is safe: whoever could see a change is chosen, and knowing less never chooses fewer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from referee.judge.selection.mentions import Mentions
from referee.judge.selection.rules import Change, Code, Record, select
from referee.judge.selection.shape import Difference, difference, shape_of

MODULES = ("a.py", "b.py", "c.py")
FUNCTIONS = ("f", "g")
TESTS = tuple(f"tests/test_{n}.py::test_{k}" for n in range(3) for k in range(2))
PLACES = [(m, f) for m in MODULES for f in FUNCTIONS] + [("data.json", ""), ("data/", "")]

places = st.frozensets(st.sampled_from(PLACES), max_size=5)
records = st.fixed_dictionaries(dict.fromkeys(TESTS, places))
always = st.frozensets(st.sampled_from(TESTS), max_size=2)
differences = st.builds(
    Difference,
    bodies=st.frozensets(st.sampled_from(FUNCTIONS)), names=st.frozensets(st.just("N")), whole=st.booleans(),
)  # fmt: skip
changes = st.lists(
    st.one_of(
        st.builds(Change, path=st.sampled_from(MODULES), python=differences),
        st.builds(Change, path=st.sampled_from(["data.json", "data/x.json", "README.md"]), there=st.booleans()),
    ),
    min_size=1, max_size=3,
)  # fmt: skip
importers = st.fixed_dictionaries(
    {m: st.frozensets(st.sampled_from([t.partition("::")[0] for t in TESTS])) for m in MODULES}
)
speakers = st.frozensets(st.sampled_from(PLACES[:6]), max_size=2)


def code(users: dict[str, frozenset[str]], said: frozenset[tuple[str, str]] = frozenset()) -> Code:
    return Code(
        reaching=lambda paths: frozenset({*paths}.union(*(users.get(p, frozenset()) for p in paths))),
        mentions=lambda wanted: Mentions(functions=said),
        tests=frozenset(t.partition("::")[0] for t in TESTS),
    )


@given(records, always, changes, importers, speakers)
def test_whoever_reached_what_differs_is_chosen(record, unsure, changed, users, said) -> None:  # type: ignore[no-untyped-def]
    chosen = {*select(changed, code(users, said), TESTS, Record(record, unsure)).chosen(TESTS)}
    assert chosen >= unsure
    for change in changed:
        if change.python is None:
            opened = {t for t in TESTS if (change.path, "") in record[t]}
        else:
            speaking = said if change.python.names and not change.python.whole else set()
            bodies = {(change.path, f) for f in change.python.bodies} | speaking
            opened = {t for t in TESTS if record[t] & bodies}
            if change.python.whole:
                opened |= {t for t in TESTS if any(path == change.path for path, _ in record[t])}
                opened |= {t for t in TESTS if t.partition("::")[0] in users[change.path]}
        assert opened <= chosen


@given(records, always, changes, importers, st.data())
def test_knowing_less_chooses_no_fewer(record, unsure, changed, users, data) -> None:  # type: ignore[no-untyped-def]
    def chosen(known, doubts, links):  # type: ignore[no-untyped-def]
        return {*select(changed, code(links), TESTS, Record(known, doubts)).chosen(TESTS)}

    full = chosen(record, unsure, users)
    forgotten = data.draw(st.frozensets(st.sampled_from(TESTS)))
    fewer = {t: p for t, p in record.items() if t not in forgotten}
    more = {
        m: u | data.draw(st.frozensets(st.sampled_from([t.partition("::")[0] for t in TESTS])))
        for m, u in users.items()
    }
    doubts = unsure | data.draw(st.frozensets(st.sampled_from(TESTS)))
    # A file that was only seen to be opened by tests now forgotten may be needed by anybody: that is more, too.
    assert full <= chosen(fewer, unsure, users)
    assert full <= chosen(record, doubts, users)
    assert full <= chosen(record, unsure, more)


@given(records, changes, importers)
def test_imports_alone_choose_no_fewer_where_they_are_all_there_is(record, changed, users) -> None:  # type: ignore[no-untyped-def]
    """A test runs only what its file imports; so the map can only make the choice smaller."""
    true = {
        t: frozenset(p for p in ps if p[0] not in users or t.partition("::")[0] in users[p[0]])
        for t, ps in record.items()
    }
    by_map = select(changed, code(users), TESTS, Record(true, ())).chosen(TESTS)
    by_imports = select(changed, code(users), TESTS, None).chosen(TESTS)
    assert {*by_map} <= {*by_imports}


@given(st.text(max_size=60), st.integers(0, 40))
def test_remarks_and_empty_lines_are_no_difference(text: str, count: int) -> None:
    source = f"def f():\n    return {text!r}\n\n\nX = {text!r}\n"
    padded = "\n" * count + source.replace("    return", "    # remark\n    return")
    try:
        encoded = source.encode()
    except UnicodeEncodeError:
        return
    assert difference(shape_of(encoded), shape_of(padded.encode())) == Difference()
