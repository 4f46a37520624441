"""Buckets: the earlier occurrences that share a key, in order."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from goodgain.transforms.core.dedup.evidence_column import Numbers

# The occurrences of a key, in order: a number for one, a list for a few, then an array, which numpy
# reads without a copy. With arrays for all, a run took 40 bytes more per result.
Bucket: TypeAlias = "int | list[int] | array[int]"


def contains_occurrence(bucket: Bucket | None, occurrence: int) -> bool:
    """Whether an occurrence is in a bucket; None is one that is missing."""
    if bucket is None or isinstance(bucket, int):
        return bucket == occurrence
    at = bisect_left(bucket, occurrence)
    return at < len(bucket) and bucket[at] == occurrence


def merge_small(buckets: list[Bucket]) -> Sequence[int] | None:
    """The occurrences in some buckets, each once and in order; None if one of these is large."""
    if len(buckets) == 1 and type(buckets[0]) is int:  # the common case
        return (buckets[0],)
    occurrences: set[int] = set()
    for bucket in buckets:
        if type(bucket) is int:
            occurrences.add(bucket)
        elif type(bucket) is list:
            occurrences.update(bucket)
        else:
            return None
    return sorted(occurrences) if len(occurrences) > 1 else tuple(occurrences)


def merge_large(buckets: list[Bucket]) -> Numbers:
    """Like `merge_small`, for large buckets."""
    if len(buckets) == 1:
        # A copy, since an array cannot grow under a view.
        return np.array(buckets[0], np.intp, ndmin=1)
    joined = np.concatenate(
        [
            np.asarray((bucket,) if isinstance(bucket, int) else bucket, np.intp)
            for bucket in buckets
        ]
    )
    joined.sort()
    new = np.ones(joined.size, np.bool_)
    np.not_equal(joined[1:], joined[:-1], out=new[1:])
    return joined[new]
