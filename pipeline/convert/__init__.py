"""TREC files to traces, and traces to TREC files (SPEC 8)."""
