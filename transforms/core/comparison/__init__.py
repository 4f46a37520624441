"""The statistics of a comparison of two arms: pure functions of the values of one metric.

Differences are candidate - base throughout. Undefined values are None, with the reason in `note`.
"""
