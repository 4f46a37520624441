"""Realistic, seeded traces for trials, tests and benchmarks (SPEC 2)."""
