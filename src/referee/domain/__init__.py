"""Values and pure decisions: what a run is made of, with no way to touch the world."""
