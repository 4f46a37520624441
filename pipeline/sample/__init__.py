"""Realistic, seeded traces for trials, tests and benchmarks (SPEC 2)."""

from goodgain.pipeline.sample.conversations import SampleCall, sample_calls, sample_records
from goodgain.pipeline.sample.options import SampleOptions
from goodgain.pipeline.sample.writers import Written, write_sample

__all__ = [
    "SampleCall",
    "SampleOptions",
    "Written",
    "sample_calls",
    "sample_records",
    "write_sample",
]
