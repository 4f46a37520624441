"""Pools as folders: building, updating, reading, labelling (SPEC 9)."""
