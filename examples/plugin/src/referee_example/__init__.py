"""An example of a plugin: one of each kind."""
