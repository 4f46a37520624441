"""Ranking metrics of SPEC 8: pure functions over a ranked list of labels and its judged pool."""
