"""Small functions with one mistake each, and checks of which some fail: what the search is measured on."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """`checks` are expressions that must be true of the module; `fix` is a line that the right repair contains."""

    name: str
    source: str
    checks: tuple[str, ...]
    fix: str


def _case(name: str, source: str, checks: str, fix: str) -> Case:
    lines = tuple(line for line in textwrap.dedent(checks).strip().splitlines())
    return Case(name, textwrap.dedent(source).strip() + "\n", lines, fix)


CASES = (
    _case(
        "wrong boundary",
        """
        def shipping(weight, country):
            if weight < 0:
                raise ValueError("negative weight")
            base = 4 if country == "DE" else 9
            if weight > 20:
                return base + 15
            if weight > 5:
                return base + 6
            return base
        """,
        """
        shipping(1, "DE") == 4
        shipping(5, "DE") == 10
        shipping(12, "FR") == 15
        shipping(20, "FR") == 15
        shipping(25, "FR") == 24
        """,
        "if weight >= 5:",
    ),
    _case(
        "wrong operator",
        """
        def gross(items, vat):
            total = 0
            for price, count in items:
                total += price + count
            return round(total * (1 + vat), 2)
        """,
        """
        gross([], 0.2) == 0
        gross([(2, 2)], 0) == 4
        gross([(10, 3)], 0) == 30
        gross([(10, 3), (1, 5)], 0.5) == 52.5
        """,
        "total += price * count",
    ),
    _case(
        "swapped arguments",
        """
        def clamp(value, low, high):
            return max(low, min(value, high))

        def to_byte(level, gain=1):
            return clamp(0, int(level * 255 * gain), 255)
        """,
        """
        clamp(5, 0, 3) == 3
        to_byte(0) == 0
        to_byte(1) == 255
        to_byte(2) == 255
        to_byte(-1) == 0
        """,
        "return clamp(int(level * 255 * gain), 0, 255)",
    ),
    _case(
        "missing guard",
        """
        def mean(values):
            return sum(values) / len(values)

        def spread(rows):
            result = {}
            for name, values in rows.items():
                result[name] = round(mean(values), 1)
            return result
        """,
        """
        mean([1, 2, 3]) == 2
        spread({"a": [1, 2]}) == {"a": 1.5}
        spread({"a": [4], "b": []}) == {"a": 4, "b": 0}
        mean([]) == 0
        """,
        "if not values:",
    ),
    _case(
        "wrong constant",
        """
        MINUTE = 60
        HOUR = 360

        def clock(seconds):
            hours, rest = divmod(seconds, HOUR)
            minutes, seconds = divmod(rest, MINUTE)
            return f"{hours}:{minutes:02}:{seconds:02}"
        """,
        """
        clock(0) == "0:00:00"
        clock(59) == "0:00:59"
        clock(3600) == "1:00:00"
        clock(3725) == "1:02:05"
        """,
        "HOUR = 3600",
    ),
    _case(
        "wrong variable",
        """
        def merge(first, second):
            result = dict(first)
            for key, value in second.items():
                if key in result:
                    result[key] = first[key] + first[key]
                else:
                    result[key] = value
            return result
        """,
        """
        merge({}, {}) == {}
        merge({"a": 1}, {"b": 2}) == {"a": 1, "b": 2}
        merge({"a": 1}, {"a": 5}) == {"a": 6}
        merge({"x": 2}, {"x": 2}) == {"x": 4}
        """,
        "result[key] = first[key] + second[key]",
    ),
    _case(
        "missing call",
        """
        def slug(title):
            words = []
            for word in title.split():
                cleaned = "".join(c for c in word if c.isalnum())
                if cleaned:
                    words.append(cleaned)
            return "-".join(words)
        """,
        """
        slug("") == ""
        slug("hello world") == "hello-world"
        slug("Hello, World!") == "hello-world"
        slug("A - B") == "a-b"
        """,
        ".lower()",
    ),
    _case(
        "wrong slice",
        """
        def initials(name):
            parts = name.split()
            return "".join(part[:1].upper() for part in parts[1:])

        def mask(number, shown=4):
            hidden = len(number) - shown
            return "*" * hidden + number[-shown:]
        """,
        """
        initials("ada lovelace") == "AL"
        initials("grace brewster murray hopper") == "GBMH"
        mask("12345678") == "****5678"
        """,
        "for part in parts)",
    ),
    _case(
        "range ends early",
        """
        def is_prime(n):
            if n < 2:
                return False
            for d in range(2, int(n ** 0.5)):
                if n % d == 0:
                    return False
            return True
        """,
        """
        is_prime(2)
        is_prime(13)
        not is_prime(1)
        not is_prime(9)
        not is_prime(25)
        not is_prime(35)
        """,
        "range(2, int(n**0.5) + 1)",
    ),
    _case(
        "and instead of or",
        """
        def may_edit(user, page):
            if page["locked"] and not user["admin"]:
                return False
            return user["name"] == page["owner"] and user["admin"]
        """,
        """
        may_edit({"name": "a", "admin": True}, {"owner": "a", "locked": True})
        may_edit({"name": "a", "admin": False}, {"owner": "a", "locked": False})
        may_edit({"name": "b", "admin": True}, {"owner": "a", "locked": False})
        not may_edit({"name": "b", "admin": False}, {"owner": "a", "locked": False})
        not may_edit({"name": "a", "admin": False}, {"owner": "a", "locked": True})
        """,
        'page["owner"] or user["admin"]',
    ),
    _case(
        "return inside the loop",
        """
        def longest(words):
            best = ""
            for word in words:
                if len(word) > len(best):
                    best = word
                return best
        """,
        """
        longest(["a"]) == "a"
        longest(["a", "bbb", "cc"]) == "bbb"
        longest(["abc", "d"]) == "abc"
        longest(["", "x", "yy"]) == "yy"
        """,
        "    return best",
    ),
    _case(
        "missing return",
        """
        def count_by(items, key):
            counts = {}
            for item in items:
                label = key(item)
                counts[label] = counts.get(label, 0) + 1
        """,
        """
        count_by([], len) == {}
        count_by(["a", "bb", "c"], len) == {1: 2, 2: 1}
        """,
        "return counts",
    ),
    _case(
        "result dropped",
        """
        def normalise(lines):
            kept = []
            for line in lines:
                line.strip()
                if line:
                    kept.append(line)
            return kept
        """,
        """
        normalise(["a", "b"]) == ["a", "b"]
        normalise([" a ", ""]) == ["a"]
        normalise(["   "]) == []
        """,
        "line = line.strip()",
    ),
    _case(
        "mutable default",
        """
        def collect(value, into=[]):
            into.append(value)
            return into
        """,
        """
        collect(1, [0]) == [0, 1]
        collect(1) == [1]
        [collect(1), collect(2)][1] == [2]
        (collect(1), collect(3))[1] == [3]
        """,
        "if into is None:",
    ),
    _case(
        "wrong attribute",
        """
        class Box:
            def __init__(self, width, height, depth):
                self.width = width
                self.height = height
                self.depth = depth

            def volume(self):
                return self.width * self.height * self.depth

            def front(self):
                return self.width * self.width
        """,
        """
        Box(1, 2, 3).volume() == 6
        Box(2, 2, 1).front() == 4
        Box(2, 5, 1).front() == 10
        Box(7, 1, 1).front() == 7
        """,
        "return self.width * self.height",
    ),
    _case(
        "missing self",
        """
        class Account:
            def __init__(self, balance=0):
                self.balance = balance
                self.log = []

            def deposit(self, amount):
                balance = self.balance + amount
                self.log.append(("deposit", amount))
                return self.balance
        """,
        """
        Account(3).balance == 3
        Account().deposit(5) == 5
        Account(10).deposit(1) == 11
        """,
        "self.balance = self.balance + amount",
    ),
    _case(
        "wrong exception",
        """
        def lookup(table, path, default=None):
            node = table
            for part in path.split("."):
                try:
                    node = node[part]
                except IndexError:
                    return default
            return node
        """,
        """
        lookup({"a": {"b": 1}}, "a.b") == 1
        lookup({"a": {}}, "a.x", 7) == 7
        lookup({}, "q") is None
        """,
        "KeyError",
    ),
    _case(
        "wrong key",
        """
        def summary(order):
            lines = order.get("lines", [])
            total = sum(line["price"] * line["count"] for line in lines)
            return {"id": order["id"], "count": len(lines), "total": total}

        def invoice(order):
            facts = summary(order)
            return "#" + str(facts["id"]) + ": " + str(facts["sum"])
        """,
        """
        summary({"id": 1})["count"] == 0
        invoice({"id": 7}) == "#7: 0"
        invoice({"id": 7, "lines": [{"price": 2, "count": 3}]}) == "#7: 6"
        """,
        'facts["total"]',
    ),
    _case(
        "negated condition",
        """
        def visible(posts, viewer):
            shown = []
            for post in posts:
                if post.get("deleted"):
                    shown.append(post["title"])
                elif post["author"] == viewer:
                    shown.append(post["title"])
            return shown
        """,
        """
        visible([], "a") == []
        visible([{"title": "t", "author": "a"}], "a") == ["t"]
        visible([{"title": "t", "author": "b"}], "a") == ["t"]
        visible([{"title": "t", "author": "b", "deleted": True}], "a") == []
        visible([{"title": "t", "author": "a", "deleted": True}], "a") == ["t"]
        """,
        'if not post.get("deleted"):',
    ),
    _case(
        "reversed order",
        """
        def ranking(scores):
            ordered = sorted(scores.items(), key=lambda pair: pair[1])
            return [name for name, _ in ordered]

        def podium(scores):
            return ranking(scores)[:3]
        """,
        """
        ranking({}) == []
        ranking({"a": 1}) == ["a"]
        ranking({"a": 1, "b": 3, "c": 2}) == ["b", "c", "a"]
        podium({"a": 4, "b": 3, "c": 2, "d": 1}) == ["a", "b", "c"]
        """,
        "reverse=True",
    ),
    _case(
        "shared row",
        """
        def grid(width, height, fill=0):
            row = [fill] * width
            rows = []
            for _ in range(height):
                rows.append(row)
            return rows

        def plot(points, width, height):
            rows = grid(width, height)
            for x, y in points:
                rows[y][x] = 1
            return rows
        """,
        """
        grid(2, 2) == [[0, 0], [0, 0]]
        plot([], 1, 1) == [[0]]
        plot([(0, 0)], 2, 2) == [[1, 0], [0, 0]]
        plot([(1, 1)], 2, 2) == [[0, 0], [0, 1]]
        """,
        "list(row)",
    ),
    _case(
        "counter not moved",
        """
        def batches(items, size):
            result = []
            start = 0
            while start < len(items):
                result.append(items[start:size])
                start += size
            return result
        """,
        """
        batches([], 2) == []
        batches([1, 2], 2) == [[1, 2]]
        batches([1, 2, 3], 2) == [[1, 2], [3]]
        batches([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]
        """,
        "items[start : start + size]",
    ),
    _case(
        "integer division",
        """
        def percent(part, whole):
            if whole == 0:
                return 0.0
            return part // whole * 100

        def table(counts):
            whole = sum(counts.values())
            return {k: percent(v, whole) for k, v in counts.items()}
        """,
        """
        percent(1, 0) == 0
        percent(3, 3) == 100
        percent(1, 2) == 50
        table({"a": 1, "b": 3}) == {"a": 25, "b": 75}
        """,
        "return part / whole * 100",
    ),
    _case(
        "precedence",
        """
        def midpoint(a, b):
            return a + b / 2

        def bisect(low, high, test):
            while high - low > 1e-6:
                middle = midpoint(low, high)
                if test(middle):
                    high = middle
                else:
                    low = middle
            return high
        """,
        """
        midpoint(0, 2) == 1
        midpoint(4, 6) == 5
        midpoint(10, 0) == 5
        """,
        "return (a + b) / 2",
    ),
    _case(
        "wrong default",
        """
        def parse_flags(text):
            flags = {}
            for item in text.split(","):
                name, sep, value = item.partition("=")
                flags[name] = value if sep else False
            return flags

        def enabled(text, name):
            return bool(parse_flags(text).get(name))
        """,
        """
        parse_flags("a=1") == {"a": "1"}
        parse_flags("a") == {"a": True}
        enabled("a,b=", "a")
        not enabled("a,b=", "b")
        not enabled("a", "c")
        """,
        "value if sep else True",
    ),
    _case(
        "yield a list",
        """
        def flatten_rows(rows):
            for row in rows:
                if isinstance(row, list):
                    yield row
                else:
                    yield row
        """,
        """
        list(flatten_rows([])) == []
        list(flatten_rows([1, 2])) == [1, 2]
        list(flatten_rows([1, [2, 3]])) == [1, 2, 3]
        """,
        "yield from row",
    ),
    _case(
        "missing update",
        """
        def unique(items):
            seen = set()
            result = []
            for item in items:
                if item in seen:
                    continue
                result.append(item)
            return result
        """,
        """
        unique([]) == []
        unique([1, 2]) == [1, 2]
        unique([1, 1, 2]) == [1, 2]
        unique("abca") == ["a", "b", "c"]
        """,
        "seen.add(item)",
    ),
    _case(
        "none is not checked",
        """
        class Node:
            def __init__(self, value, parent=None):
                self.value = value
                self.parent = parent

        def root_path(node):
            path = []
            while node.parent:
                path.append(node.value)
                node = node.parent
            return path[::-1]
        """,
        """
        root_path(Node(1)) == [1]
        root_path(Node(2, Node(1))) == [1, 2]
        root_path(Node(3, Node(2, Node(1)))) == [1, 2, 3]
        """,
        "while node",
    ),
)
