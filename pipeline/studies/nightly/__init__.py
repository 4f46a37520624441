"""The nightly job: scores, compares, gates, publishes and reports one day of traces."""
