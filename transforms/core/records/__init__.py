"""Trace records: types, parsing, and the rejection of unusable ones (SPEC 2, 3)."""
