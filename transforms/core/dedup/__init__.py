"""Decides whether two results are the same document: normal forms, rules, evidence (SPEC 4)."""
