"""One module per command; what is heavy is imported inside the command."""
