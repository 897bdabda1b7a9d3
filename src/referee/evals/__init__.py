"""Evaluation: tasks from histories and releases, configurations with parts switched off, statistics and reports."""
