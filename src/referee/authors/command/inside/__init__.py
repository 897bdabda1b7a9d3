"""What runs inside the sandbox beside an agent; standard library only, because the project's Python runs it."""
