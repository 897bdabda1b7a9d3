"""Summaries for people: a table for the terminal, Markdown, and a page with plots."""
