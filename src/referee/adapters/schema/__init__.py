"""Documents, and JSON Schema to hold them against."""

from referee.adapters.schema.documents import Document, documents
from referee.adapters.schema.validate import Schema, schema

__all__ = ["Document", "Schema", "documents", "schema"]
