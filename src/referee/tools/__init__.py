"""The agent's toolbox: what a model may call, and how each call becomes actions."""

from referee.tools.room import Place, Room, Shell
from referee.tools.tool import Tool, tool
from referee.tools.toolbox import TOOLS, Toolbox, every, known

__all__ = ["TOOLS", "Place", "Room", "Shell", "Tool", "Toolbox", "every", "known", "tool"]
