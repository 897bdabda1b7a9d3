"""The interface of Python sources, read without importing them."""

from referee.adapters.reference.read import read

__all__ = ["read"]
