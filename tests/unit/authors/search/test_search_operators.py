"""Each operator does what its name says, keeps everything else as it was, and makes code that compiles."""

from __future__ import annotations

import pytest
from search_sites import results

from referee.authors.search.operators import OPERATORS

BODY = "def f(a, b, items):\n    {}\n    return a\n"

# operator, a statement (or a whole text with several lines), what must be among its results
IN_BODY = [
    ("comparison", "x = a < b", "x = a <= b"),
    ("comparison", "x = a  not   in b", "x = a  in b"),
    ("comparison_bound", "x = a > 3", "x = a > 4"),
    ("comparison_operands", "x = a in b", "x = b in a"),
    ("none_comparison", "x = a.c is None", "x = a is None or a.c is None"),
    ("none_comparison", "x = a is not None", "x = a"),
    ("chained_bound", "x = a < b", "x = 0 <= a < b"),
    ("instance_kinds", "x = isinstance(a, list)", "x = isinstance(a, (list, tuple))"),
    ("arithmetic", "x = (a) + (b)  # sum", "x = (a) - (b)  # sum"),
    ("augmented", "a += b", "a -= b"),
    ("augmented", "a += b", "a = b"),
    ("accumulated", "a = b", "a += b"),
    ("one_operand", "x = a + b * 2", "x = b * 2"),
    ("operand_order", "x = a - (b - 1)", "x = (b - 1) - a"),
    ("grouping", "x = a + b / 2", "x = (a + b) / 2"),
    ("grouping", "x = (a + b) / 2", "x = a + b / 2"),
    ("sign", "x = -a", "x = a"),
    ("sign", "x = not a", "x = a"),
    ("squared", "x = b - a", "x = b - a**2"),
    ("other_term", "x = a * 2", "x = (a - b) * 2"),
    ("number", "x = a + 3", "x = a + 4"),
    ("number", "x = a * 0.7", "x = a * 0.07"),
    ("known_number", "x = a + 3; y = 8", "x = a + 8; y = 8"),
    ("named_number", "x = a + 3", "x = a + b"),
    ("boolean", "x = True", "x = False"),
    ("nothing", "x = None", "x = []"),
    ("empty", "x = []", "x = {}"),
    ("known_string", 'x = a["total"]; y = a["totals"]', 'x = a["totals"]; y = a["totals"]'),
    ("known_key", 'x = a["sum"]; y = {"total": 1}', 'x = a["total"]; y = {"total": 1}'),
    ("formatted_string", 'x = "{a} of {b}"', 'x = f"{a} of {b}"'),
    ("string_case", 'x = "Yes"', 'x = "yes"'),
    ("range_bound", "x = range(a)", "x = range(a + 1)"),
    ("range_bound", "x = range(1, a - 1)", "x = range(1, a)"),
    ("offset_name", "x = max(a, b)", "x = max(a + 1, b)"),
    ("offset_expression", "x = len(items)", "x = len(items) - 1"),
    ("offset_index", "x = items[a]", "x = items[a - 1]"),
    ("offset_index", "x = items[0]", "x = items[-1]"),
    ("counted_from", "x = enumerate(items)", "x = enumerate(items, 1)"),
    ("and_or", "x = a and (b or a) and b", "x = a or (b or a) or b"),
    ("fewer_clauses", "x = a and (b or a)", "x = b or a"),
    ("negated_clause", "x = a or b", "x = a or not b"),
    ("negated", "x = 1 if a else 2", "x = 1 if not a else 2"),
    ("always", "x = 1 if a else 2", "x = 1 if True else 2"),
    ("branches", "x = 1 if a else 2", "x = 2 if a else 1"),
    ("comprehension_filter", "x = [i for i in items if i]", "x = [i for i in items if not i]"),
    ("comprehension_filter", "x = [i for i in items]", "x = [i for i in items if i]"),
    ("variable", "x = a + b", "x = a + a"),
    ("unknown_name", "x = itmes", "x = items"),
    ("confused", "x = any(items)", "x = all(items)"),
    ("confused", "x = a.lstrip()", "x = a.strip()"),
    ("attribute", "x = a.width; y = a.height", "x = a.height; y = a.height"),
    ("attribute_dropped", "x = a.width", "x = a"),
    ("attribute_added", "x = a; y = a.size", "x = a.size; y = a.size"),
    ("local_instead", "x = self.items", "x = items"),
    ("other_expression", "x = items[a]; y = items[b]", "x = items[b]; y = items[b]"),
    ("argument_order", "x = g(a, b)", "x = g(b, a)"),
    ("argument_order", "x = g(u=a, v=b)", "x = g(u=b, v=a)"),
    ("element_order", "x = a, b", "x = b, a"),
    ("unwrapped", "x = sorted(a)", "x = a"),
    ("unwrapped", "x = a.strip()", "x = a"),
    ("fewer_arguments", "x = g(a, b)", "x = g(a)"),
    ("fewer_arguments", "x = g(a, k=b)", "x = g(k=b)"),
    ("keyword_argument", "x = sorted(a)", "x = sorted(a, reverse=True)"),
    ("more_arguments", "x = a.g(b)", "x = a.g(b, items)"),
    ("wrapped", "x = g(a)", "x = g(str(a))"),
    ("wrapped", "x = f'{a}'; y = g(b)", "x = f'{g(a)}'; y = g(b)"),
    ("method_added", "x = g(a)", "x = g(a.lower())"),
    ("get_instead", "x = a[b]", "x = a.get(b, 0)"),
    ("default_value", "x = a.get(b)", "x = a.get(b, 0)"),
    ("bounded", "a = a - b", "a = max(a, a - b)"),
    ("slice_bounds", "x = items[a:b]", "x = items[a : b + 1]"),
    ("slice_bounds", "x = items[a:b]", "x = items[a:]"),
    ("sliced", "x = items", "x = items[1:]"),
    ("indexed", "x = items", "x = items[0]"),
    ("index_dropped", "x = items[1:]", "x = items"),
    ("copied", "x = items", "x = list(items)"),
    ("nested", "x = [a]", "x = [[a]]"),
    ("kept_result", "a.strip()", "a = a.strip()"),
    ("kept_result", "g(a)", "return g(a)"),
    ("yielded", "yield a", "yield from a"),
    ("guarded_value", "x = [a.b]", "x = [a.b] if a.b else []"),
    ("guarded_value", "x = a.b", "x = a.b if a else None"),
    ("fallback", "x = a.get(b)", "x = a.get(b) or []"),
]

WHOLE = [
    ("while_name", "def f(q):\n    while True:\n        q.pop()\n", "while q:"),
    ("weaker", "def f(a, b):\n    if a:\n        return b\n", "if a or not b:"),
    ("stronger", "def f(a, b):\n    if a < 1:\n        return b\n", "if b and a < 1:"),
    ("keyword", "def f(a):\n    if a:\n        a -= 1\n", "    while a:"),
    ("removed", "def f(a):\n    a += 1\n    return a\n", "def f(a):\n    return a\n"),
    ("removed", "def f(a):\n    for x in a:\n        x()\n", "    for x in a:\n        pass\n"),
    ("unconditional", "def f(a):\n    if a:\n        a = 1\n    return a\n", "def f(a):\n    a = 1\n    return a\n"),
    ("out_of_block", "def f(a):\n\tfor x in a:\n\t\tx()\n\t\treturn x\n", "\tfor x in a:\n\t\tx()\n\treturn x\n"),
    ("into_block", "def f(a):\n    if a:\n        a = 1\n    a = 2\n", "    if a:\n        a = 1\n        a = 2\n"),
    ("statement_order", "def f(a):\n    a = 1  # one\n    b = a\n", "def f(a):\n    b = a\n    a = 1  # one\n"),
    ("repeated", "def f(a, o):\n    for x in a:\n        o.add(x)\n    return o\n", "    o.add(x)\n    return o\n"),
    ("repeated_renamed", "def f(a, o):\n    o.add(a)\n    return o\n", "    o.add(o)\n    return o\n"),
    (
        "sibling_call",
        "class A:\n    def draw(self, o):\n        self.draw_head(o)\n    def draw_head(self, o): ...\n"
        "    def draw_feet(self, o): ...\n",
        "        self.draw_head(o)\n        self.draw_feet(o)\n",
    ),
    ("effect_added", "def f(a, o):\n    o.write(a)\n\ndef g(p):\n    p.flush()\n", "o.write(a)\n    o.flush()\n"),
    ("passed_on", "def f(a, k):\n    n = len(a)\n    return f(a[1:], k)\n", "return f(a[1:], k - n)"),
    (
        "filled",
        "def f(a):\n    s = []\n    for x in a:\n        if x in s:\n            a()\n",
        "        s.append(x)\n",
    ),
    ("remembered", "def f(a, s):\n    for x in a:\n        if x in s:\n            continue\n", "s.add(x)\n"),
    ("assigned", "def f(a, b):\n    return a\n", "    a = b\n    return a\n"),
    ("advanced", "def f(a, i):\n    while i < 3:\n        a()\n", "        a()\n        i += 1\n"),
    ("jump_added", "def f(a):\n    for x in a:\n        x()\n", "        x()\n        break\n"),
    ("jump", "def f(a):\n    for x in a:\n        break\n", "        continue\n"),
    ("mutable_default", "def f(a=[]):\n    return a\n", "def f(a=None):\n    if a is None:\n        a = []\n"),
    ("returned_name", "def f(a, b):\n    return a\n", "return b"),
    ("returned_empty", "def f(a):\n    return []\n", "return None"),
    ("returned_test", "def f(a):\n    return True\n", "return not a"),
    ("negated_result", "def f(a):\n    return a\n", "return not a"),
    ("missing_return", "def f(a):\n    b = a\n", "    b = a\n    return b\n"),
    ("missing_branch_return", "def f(a):\n    if a:\n        a = 1\n    a = 2\n", "        a = 1\n        return a\n"),
    ("guard_return", "def f(a):\n    return 1 / a\n", "    if not a:\n        return 0\n    return 1 / a\n"),
    ("guard_default", "def f(a):\n    return len(a)\n", "    if a is None:\n        a = []\n"),
    ("guard_skip", "def f(a):\n  for x in a:\n    x()\n", "    if not x:\n      continue\n"),
    (
        "caught",
        "def f(a):\n    try:\n        a()\n    except KeyError:\n        pass\n",
        "except (KeyError, ValueError):",
    ),
    ("raised", "def f(a):\n    raise KeyError(a)\n", "raise ValueError(a)"),
    ("returned_instead", "def f(a):\n    raise KeyError(a)\n", "return None"),
    ("awaited", "async def f(a):\n    return a()\n", "return await a()"),
]

EXPECTING = "import pytest\n\n\ndef test():\n    with pytest.raises(LookupError):\n        f(1)\n"
WITH_TESTS = [
    ("guard_raise", "def f(a):\n    return 1 / a\n", "        raise LookupError("),
    ("raised_instead", "def f(a):\n    return None\n", "    raise LookupError\n"),
]


@pytest.mark.parametrize(("name", "before", "after"), IN_BODY)
def test_an_expression_or_statement_is_changed(name: str, before: str, after: str) -> None:
    assert BODY.format(after) in results(name, BODY.format(before))


@pytest.mark.parametrize(("name", "text", "snippet"), WHOLE)
def test_a_block_is_changed(name: str, text: str, snippet: str) -> None:
    assert any(snippet in made for made in results(name, text))


@pytest.mark.parametrize(("name", "text", "snippet"), WITH_TESTS)
def test_what_the_failing_tests_expect_is_used(name: str, text: str, snippet: str) -> None:
    assert any(snippet in made for made in results(name, text, EXPECTING))
    assert not results(name, text)


def test_every_operator_has_an_example_and_a_prior_between_0_and_1() -> None:
    shown = {name for name, _, _ in (*IN_BODY, *WHOLE, *WITH_TESTS)}
    assert shown == {o.name for o in OPERATORS}
    assert len({o.name for o in OPERATORS}) == len(OPERATORS)
    assert all(0 < o.prior <= 1 for o in OPERATORS)


def test_annotations_docstrings_and_decorators_are_left_alone() -> None:
    text = '@cache(3)\ndef f(a: "A" = 1) -> int:\n    """Twice 2."""\n    b: "B" = a\n    return b\n'
    made = {r for o in OPERATORS for r in results(o.name, text)}
    assert made
    assert all(r.startswith('@cache(3)\ndef f(a: "A" = ') and '"""Twice 2."""' in r for r in made)


def test_a_name_in_a_formatted_string_is_repaired_without_breaking_its_quotes() -> None:
    text = "def f(first, second):\n    return f'{first}: {first!r:>{10}}'\n"
    made = results("variable", text)
    assert "def f(first, second):\n    return f'{second}: {first!r:>{10}}'\n" in made
    assert not any('"' in r for o in OPERATORS for r in results(o.name, text) if "f'" in r and "{first" not in r)
