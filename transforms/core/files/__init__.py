"""Trace files: splitting them into shards, and reading these (SPEC 2)."""
