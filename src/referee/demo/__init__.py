"""A small shop with one real bug, shipped as files for `referee demo`; nothing here is ever imported."""
