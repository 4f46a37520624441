"""Trace files: planning who reads what, and reading it (SPEC 2)."""
