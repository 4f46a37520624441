"""Data warnings: oddities in a run's data that make its numbers misleading (SPEC 10).

`scoring.data_counts` counts in one conversation, `checks` interprets the sums. Between them there
is only addition, so the outcome does not depend on order, bundling or runner.
"""
