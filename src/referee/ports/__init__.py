"""What the kernel needs from outside: the repository, a sandbox, models, a store and a clock.

Adapters implement these protocols and know nothing above them. Each has a fake in `referee.testing` and a
contract suite in `tests/contract` that every implementation passes.
"""

from __future__ import annotations

from referee.ports.jobs import Jobs, JobState
from referee.ports.memories import Approvals, Memories
from referee.ports.model import Message, Model, ModelReply, ModelRequest, Price, ToolCall, ToolSpec, Usage
from referee.ports.outside import OutsideTool
from referee.ports.peers import Peer
from referee.ports.sandbox import Base, Command, Contact, Execution, Isolation, Job, Level, Limits, Mount, Sandbox, Warm
from referee.ports.signing import Signatures
from referee.ports.store import Entry, Kind, Lease, RunRecord, RunState, Shelf, Signal, Store
from referee.ports.surroundings import Hooked, Surroundings
from referee.ports.tools import Interpreter, Toolchain
from referee.ports.workspace import (
    Clash,
    Commit,
    Landing,
    Merged,
    Published,
    PullRequest,
    Restoration,
    Snapshot,
    Workspace,
)
from referee.ports.world import Clock, Equipment, Progress, World

__all__ = [
    "Approvals",
    "Base",
    "Clash",
    "Clock",
    "Command",
    "Commit",
    "Contact",
    "Entry",
    "Equipment",
    "Execution",
    "Hooked",
    "Interpreter",
    "Isolation",
    "Job",
    "JobState",
    "Jobs",
    "Kind",
    "Landing",
    "Lease",
    "Level",
    "Limits",
    "Memories",
    "Merged",
    "Message",
    "Model",
    "ModelReply",
    "ModelRequest",
    "Mount",
    "OutsideTool",
    "Peer",
    "Price",
    "Progress",
    "Published",
    "PullRequest",
    "Restoration",
    "RunRecord",
    "RunState",
    "Sandbox",
    "Shelf",
    "Signal",
    "Signatures",
    "Snapshot",
    "Store",
    "Surroundings",
    "ToolCall",
    "ToolSpec",
    "Toolchain",
    "Usage",
    "Warm",
    "Workspace",
    "World",
]
