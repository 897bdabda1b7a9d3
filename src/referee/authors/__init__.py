"""Authors: whoever answers a brief with a proposal. They propose; nothing here decides."""
