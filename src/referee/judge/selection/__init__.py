"""Which tests can see a change: by what each was seen to reach, else by imports. Unsure means more (D7)."""
