"""What runs between the harness and a command: namespaces, mounts, limits, the system call filter.

These modules use the standard library only and run under any Python from 3.9, isolated (`-I -S -B`), so that a
fork server starts in milliseconds and a warm process can be started by the project's own interpreter. They
import each other relatively because they are loaded as the top-level package `stage`, without `referee`.
"""
