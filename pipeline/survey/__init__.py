"""Describes the contents of trace files without scoring them (SPEC 2, 3)."""
