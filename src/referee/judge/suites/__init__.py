"""Projects in other languages than Python: what they use, how their tests run, what those say."""
