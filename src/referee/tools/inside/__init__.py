"""What runs inside the sandbox for the agent's tools; the standard library only."""
