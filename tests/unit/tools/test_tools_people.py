"""The tools for people, knowledge, later and other systems: what each shows, refuses and leaves for a resume."""

from __future__ import annotations

import json

import pytest
from rooms import Bench

from referee.authors.tools.steps import play
from referee.context.skills import catalogue, found, loaded
from referee.domain.errors import Suspended
from referee.domain.memory import Memory, MemoryLayer, Origin, standing
from referee.domain.question import Answer, Question
from referee.kernel.questions import ANSWER, read_question
from referee.ports import Kind, Signal
from referee.tools import Toolbox

CODE = """\
import os
LIMIT = 3

class Order(Base):
    total: int = 0

    async def pay(self, amount: int = 1) -> bool:
        return amount > LIMIT

def pay_all(orders):
    return [o.pay(2) for o in orders]
"""


def asked(bench: Bench) -> Question:
    return read_question([e for e in bench.store.entries("r1") if e.kind is Kind.ASKED][-1])


def answer(bench: Bench, text: str) -> None:
    question = asked(bench)
    said = Answer(question=question.id, digest=question.digest, text=text, by="me", at="now")
    assert bench.store.leave("r1", ANSWER, Signal(name=f"{question.id}/1", payload=said.model_dump_json(), at="now"))


def test_the_work_waits_for_an_answer_and_goes_on_with_it() -> None:
    bench = Bench({"f": "x"})
    given = {"question": "Which database?", "options": ["sqlite", "postgres"]}
    with pytest.raises(Suspended):
        bench.call("ask", **given)
    assert asked(bench).options == ("sqlite", "postgres") and asked(bench).kind == "question"
    answer(bench, "postgres")
    bench.open()
    assert bench.call("ask", **given).text == "postgres\n[the person's answer]"
    bench.open()
    assert bench.call("ask", **given).text == "postgres\n[the person's answer]", "recalled, and not asked again"


def test_a_question_that_nobody_waits_for_is_answered_at_one_place_in_every_replay() -> None:
    bench = Bench({"f": "x"})

    def until_here() -> list[str | None]:
        (key,) = (bench.call("ask", question="Which?", blocking=False), bench.room.asked)[1]
        heard = [bench.run.heard(key, "call_model")]
        bench.call("read", path="f")
        return [*heard, bench.run.heard(key, "call_model")]

    assert until_here() == [None, None]
    answer(bench, "the second")
    (key,) = bench.room.asked
    bench.call("read", path="f")
    assert bench.run.heard(key, "call_model") == "the second"
    bench.open()
    assert until_here() == [None, None], "where it was not there at first, it is not there again"
    bench.call("read", path="f")
    assert bench.run.heard(key, "call_model") == "the second"
    bench.call("read", path="f")
    assert bench.run.heard(key, "call_model") is None, "once"


def test_no_more_than_three_questions_are_open() -> None:
    bench = Bench({})
    told = [bench.call("ask", question=f"What {n}?", blocking=False).outcome for n in range(4)]
    assert told == ["done", "done", "done", "failed"]


def test_files_and_tables_are_shown_as_they_were() -> None:
    bench = Bench({"a.txt": "one\n", "b.bin": b"\x1b[31mred"})
    told = bench.call(
        "present", files=["a.txt", "b.bin"], component={"head": ["n"], "rows": [["1"], ["2"]]}, caption="T"
    )
    assert told.text == "[shown: 2 files and a table of 2 rows]"
    (shown,) = bench.room.presented
    assert shown.files == (("a.txt", "one\n"), ("b.bin", "red")) and shown.rows == (("1",), ("2",))
    assert "there is no file c.txt" in bench.call("present", files=["c.txt"]).text
    assert bench.call("present").outcome == bench.call("present", component={"head": ["a"], "rows": [[]]}).outcome
    assert len(bench.room.presented) == 1


def test_a_skill_is_loaded_once_and_three_at_most() -> None:
    files = {
        f".agents/skills/s{n}/SKILL.md": f"---\nname: s{n}\ndescription: how {n}\n---\nDo {n}.\n" for n in range(5)
    }
    bench = Bench(files)
    skills = found(bench.room.read, bench.room.paths())
    bench.room.skill = lambda name: loaded(skills, name)
    assert "- s3: how 3" in catalogue(skills) and catalogue(()) == ""
    told = bench.call("skill", name="s1").text
    assert "Do 1." in told and ".agents/skills/s1" in told and "1 of 3" in told
    assert "loaded already" in bench.call("skill", name="s1").text
    assert "there are s0, s1" in bench.call("skill", name="s9").text
    assert [bench.call("skill", name=f"s{n}").outcome for n in (2, 3, 4)] == ["done", "done", "failed"]


def test_definitions_and_uses_are_found_best_first() -> None:
    bench = Bench({"shop/order.py": CODE, "shop/other.py": "from shop.order import pay_all\n", "bad.py": "def pay(:\n"})
    outline = bench.call("symbols", path="shop/order.py").text.splitlines()
    assert outline[1] == "4-8\tclass Order(Base)" and outline[3] == "7-8\t  async def pay(self, amount: int=1) -> bool"
    assert outline[-1] == "[shop/order.py: 5 definitions]"
    told = bench.call("symbols", query="pay").text.splitlines()
    assert told[0].endswith("async def pay(self, amount: int=1) -> bool  [Order.pay]")
    assert (
        told[1].startswith("shop/order.py:10-11: def pay_all")
        and told[2] == "shop/order.py:11: return [o.pay(2) for o in orders]"
    )
    assert told[-1] == "[2 definitions, 1 use of pay in .; no valid Python, left out: bad.py]"
    assert "shop/other.py:1: from shop.order import pay_all" in bench.call("symbols", query="pay_all").text
    assert "line 1" in bench.call("symbols", path="bad.py").text
    assert bench.call("symbols").outcome == "failed"


def test_a_task_is_planned_once_listed_and_removed() -> None:
    bench = Bench({})
    around = bench.run._world.surroundings
    told = bench.call("schedule", when="every 30m", task="look for updates")
    (entry,) = around.planned()
    assert told.text.startswith(f"[planned as {entry.id}") and entry.due == 1800.0 + bench.run._world.clock.now()
    assert entry.id in bench.call("schedule_list").text
    assert "too often" in bench.call("schedule", when="every 1m", task="x").text
    assert bench.call("schedule_remove", id="nothing").outcome == "failed"
    assert bench.call("schedule_remove", id=entry.id).outcome == "done" and around.planned() == ()
    for n in range(25):
        last = bench.call("schedule", when="every 1h", task=f"task {n}")
    assert "20 tasks are planned already" in last.text and len(around.planned()) == 20


def test_a_wrong_memory_is_forgotten_by_its_id() -> None:
    bench = Bench({})
    kept = bench.run._world.surroundings.memories
    kept.confirm(
        kept.keep(Memory(id="m", text="x", layer=MemoryLayer.PERSON, origin=Origin.PERSON, date="1970-01-01")), "me"
    )
    bench.room.memories = standing(kept.all(), "1970-01-02", lambda path: None)
    assert bench.call("forget", id="n").outcome == "failed" and len(kept.all()) == 1
    assert bench.call("forget", id="m").text == "[m is forgotten]" and kept.all() == ()


def test_a_workflow_runs_what_a_person_allowed_and_gives_its_files_back() -> None:
    step = "flow._do('write', {'path': 'g', 'content': flow.arguments['text']})"
    flow = f"def main(flow):\n    return {step}.text\n"
    bench = Bench({"flow.py": flow})
    bench.room.play = lambda room, path, args: play(room, Toolbox(), path, args)
    with pytest.raises(Suspended):
        bench.call("workflow", file="flow.py", args={"text": "hello"})
    assert flow in bench.store.get(asked(bench).shown).decode() and bench.file("g") is None
    answer(bench, "yes")
    for _ in range(2):  # the second time all of it is recalled
        bench.open()
        bench.room.play = lambda room, path, args: play(room, Toolbox(), path, args)
        told = bench.call("workflow", file="flow.py", args={"text": "hello"})
        assert told.text.endswith("[flow.py: 1 steps; files were changed]") and bench.file("g") == b"hello"
    assert json.loads(bench.toolbox.specs[0].model_dump_json())["name"] == "read"


def test_only_what_is_read_from_a_listed_domain_needs_no_signature() -> None:
    """The gate's rule itself is tested with the outside tools; here, what the tool makes of its arguments."""
    bench = Bench({})
    assert bench.call("http", method="TRACE", url="https://example.org").outcome == "invalid"
    told = bench.call("http", method="GET", url="https://example.org")
    assert told.outcome == "failed" and "no outside tool" in told.text
