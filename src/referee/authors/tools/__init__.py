"""The tool loop as an author: what it leaves in its workspace is its proposal."""

from referee.authors.tools.author import ToolAuthor
from referee.authors.tools.judging import examiner
from referee.authors.tools.workflow import WorkflowAuthor

__all__ = ["ToolAuthor", "WorkflowAuthor", "examiner"]
