"""What surrounds a run comes into the room: memories, hooks that are trusted, tools of approved servers."""

from __future__ import annotations

from referee.actions.surround import LookAround
from referee.context.memory import recalled
from referee.domain.errors import UsageError
from referee.domain.hooks import Trusted
from referee.tools.peers import met
from referee.tools.room import Room
from referee.tools.toolbox import Toolbox


def surrounded(room: Room, toolbox: Toolbox) -> Toolbox:
    """Fill the room; the toolbox with what it may use besides. What is left out is said to the person.

    Raises `UsageError` if a person trusts other hooks than there are now: their guards would be missing.
    """
    run = room.run
    around = run.perform(LookAround())
    for note in around.notes:
        run.note(note)
    room.memories, room.today = around.memories, around.today
    room.recall = lambda query: recalled(around.memories, query, around.today)
    hooked = around.hooked
    if hooked.changed:
        raise UsageError(
            "the hooks of this repository, or files that they name, are not as they were trusted; read them with "
            "`referee hooks list`, then `referee hooks trust` or `referee hooks revoke`"
        )
    if hooked.hooks and hooked.trusted is Trusted.NOT:
        run.note(f"hooks of this repository do not run ({len(hooked.hooks)}): nobody trusts them; `referee hooks list`")
    else:
        room.hooks = hooked.hooks
    if not around.servers:
        return toolbox
    if room.shell is None:
        room.shell = room.place.equip(run)
    return toolbox.plus(met(run, around.servers, room.shell.base))
