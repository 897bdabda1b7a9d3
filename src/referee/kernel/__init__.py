"""The gate: actions, the run that performs them, its journal, ledger and policies."""
