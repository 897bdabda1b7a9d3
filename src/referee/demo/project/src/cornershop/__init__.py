"""The till of a small shop."""
