"""The scale-out engine: runs in a queue of DBOS on PostgreSQL, driven by workers that take over from dead ones.

The engine schedules and nothing else: what a run has done is in its journal, and its lease decides who goes on with it.
Only what is public in DBOS is used, and nothing here is imported unless somebody asks for the engine.
"""
