"""What runs inside the sandbox, beside the code under test: the standard library and pytest only, Python 3.9 or newer.

The folder is mounted read-only and never imported on the host. Nothing here decides anything: it reports over a
channel that code under test cannot forge, and the verdict is taken outside (`referee.judge.ruling`).
"""
