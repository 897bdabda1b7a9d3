"""The attacks themselves: what hostile code would do inside a sandbox. Standard library only, Python 3.9 or later.

These modules are shown to a sandbox as the package `inside`, without `referee`. A sandbox may fail, and controls run
without one, as root. So every attack must be harmless to the machine even when it succeeds: it is finite; it writes
to nothing but what the campaign has put there, or to new files that bear the campaign's mark; of the kernel's
settings, devices and other processes it opens or asks for what it should not get, and changes nothing.
Whether it succeeded is not for it to say: the host looks.
"""
