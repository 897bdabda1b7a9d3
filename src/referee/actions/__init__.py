"""Every way to touch the world, one class each."""
