"""Explains one conversation, result by result, with the fold of the pipeline (SPEC 3-5)."""
