"""Matches the conversations of two arms, and counts those without a partner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.transforms.core.comparison.samples import Array
from goodgain.transforms.core.metrics.repeats import parse_repeats

BY_ID = "conversation_id"
_FEW_SHARED = 0.05
_Indexes = npt.NDArray[np.intp]
_Flags = npt.NDArray[np.bool_]


class Grouped(Struct, frozen=True):
    """An arm, grouped by pairing key.

    Several conversations of an arm with the same key, such as repeated runs of a query, are not
    independent; they count as one with the mean of their values, so that n is the number of keys.

    Attributes:
      keys: ascending, each once.
      rows: indexes in the arm of the conversations with a key, in the order of `keys`.
      group_of: for each entry of `rows`, the index of its key in `keys`.
      unkeyed: number of conversations without a key.
    """

    arm: Arm
    keys: tuple[str, ...]
    rows: _Indexes
    group_of: _Indexes
    unkeyed: int

    @property
    def repeated(self) -> int:
        """The number of conversations beyond the first of each key."""
        return len(self.rows) - len(self.keys)

    def values(self, measure: Measure) -> tuple[Array, _Flags]:
        """Like `Arm.values`, but by key: the mean over the key's conversations with a value.

        Of a mean over repeats, its value for the key.
        """
        values, present = self.arm.values(measure)
        values, present = values[self.rows], present[self.rows]
        repeats = parse_repeats(measure.metric)
        if not self.repeated and repeats is None:
            return values, present
        defined = present & ~np.isnan(values)
        n = len(self.keys)
        totals = np.bincount(self.group_of, np.where(defined, values, 0.0), n)
        counts = np.bincount(self.group_of, defined, n)
        if repeats is not None:
            passed = zip(counts.astype(int).tolist(), totals.astype(int).tolist(), strict=True)
            of_keys = [repeats.value(*counts) for counts in passed]
            return np.array(of_keys, dtype=np.float64), counts > 0
        means = np.full(n, np.nan)
        np.divide(totals, counts, out=means, where=counts > 0)
        return means, np.bincount(self.group_of, present, n) > 0

    def first_rows(self) -> _Indexes:
        """For each key, the index of its first conversation in the arm."""
        return self.rows[np.searchsorted(self.group_of, np.arange(len(self.keys)))]


def group_by_key(arm: Arm, pair_by: str) -> Grouped:
    """Group an arm by conversation_id or by an attribute; a blank value is no key."""
    if pair_by == BY_ID:
        key_values: Sequence[str] = arm.ids
    else:
        key_values = [attributes.get(pair_by, "") for attributes in arm.attributes]
    with_key = [index for index, key in enumerate(key_values) if key]
    rows = sorted(with_key, key=lambda index: key_values[index])
    keys = sorted({key_values[index] for index in rows})
    index_of = {key: index for index, key in enumerate(keys)}
    return Grouped(
        arm=arm,
        keys=tuple(keys),
        rows=np.array(rows, dtype=np.intp),
        group_of=np.array([index_of[key_values[index]] for index in rows], dtype=np.intp),
        unkeyed=len(arm.ids) - len(rows),
    )


class Matched(Struct, frozen=True):
    """Two arms side by side.

    Attributes:
      keys: the keys in both arms, ascending; empty when unpaired.
      base_indexes, candidate_indexes: indexes of these keys in each arm's `Grouped.keys`.
      pair_by: BY_ID or the attribute whose values are the keys.
    """

    base: Grouped
    candidate: Grouped
    keys: tuple[str, ...]
    base_indexes: _Indexes
    candidate_indexes: _Indexes
    paired: bool
    pair_by: str


def match_everyone(matched: Matched) -> Matched:
    """The same two arms including the conversations that did not search, matched the same way."""
    base, candidate = matched.base.arm.everyone(), matched.candidate.arm.everyone()
    return match(base, candidate, matched.pair_by, matched.paired)


def match(base: Arm, candidate: Arm, pair_by: str, paired: bool) -> Matched:
    """Match two arms by key."""
    one, other = group_by_key(base, pair_by), group_by_key(candidate, pair_by)
    shared = set(one.keys).intersection(other.keys)
    return Matched(
        base=one,
        candidate=other,
        keys=tuple(key for key in one.keys if key in shared) if paired else (),
        base_indexes=_indexes_of(shared, one.keys),
        candidate_indexes=_indexes_of(shared, other.keys),
        paired=paired,
        pair_by=pair_by,
    )


def match_conversations(base: Arm, candidate: Arm) -> Matched:
    """Match by conversation_id; as two samples if at most 5 % of the smaller arm is in both.

    Such arms are different traffic: two days share only conversations that span midnight.
    """
    matched = match(base, candidate, BY_ID, paired=True)
    smaller = min(len(matched.base.keys), len(matched.candidate.keys))
    if len(matched.keys) <= smaller * _FEW_SHARED:
        return match(base, candidate, BY_ID, paired=False)
    return matched


def _indexes_of(shared: Set[str], keys: Sequence[str]) -> _Indexes:
    return np.array([index for index, key in enumerate(keys) if key in shared], dtype=np.intp)


class Sample(Struct, frozen=True):
    """The values of one measure in both arms, and counts of the values left out.

    Attributes:
      base, candidate: defined values; pair by pair when paired.
      with_nulls: the same for both arms, with NaN for each null.
      shared: for each pair, the index of its key in `Matched.keys`; empty when unpaired.
      only_in_base, only_in_candidate: number of keys that only this arm has in the population; 0
        when unpaired.
      undefined_in_base, undefined_in_candidate: number of nulls in that arm; when paired, of pairs
        with a null in that arm only.
      undefined_in_both: pairs on which it is null in both.
    """

    base: Array
    candidate: Array
    with_nulls: tuple[Array, Array]
    shared: _Indexes
    paired: bool
    only_in_base: int
    only_in_candidate: int
    undefined_in_base: int
    undefined_in_candidate: int
    undefined_in_both: int


def sample(matched: Matched, measure: Measure) -> Sample:
    """The values of one measure."""
    if not matched.paired:
        (base, in_base), (candidate, in_candidate) = (
            grouped.arm.values(measure) for grouped in (matched.base, matched.candidate)
        )
        with_nulls = base[in_base], candidate[in_candidate]
        base, candidate = (values[~np.isnan(values)] for values in with_nulls)
        no_pairs = np.array([], dtype=np.intp)
        nulls = [int(np.isnan(values).sum()) for values in with_nulls]
        return Sample(base, candidate, with_nulls, no_pairs, False, 0, 0, nulls[0], nulls[1], 0)
    base, in_base = matched.base.values(measure)
    candidate, in_candidate = matched.candidate.values(measure)
    of_base, of_candidate = matched.base_indexes, matched.candidate_indexes
    shared = in_base[of_base] & in_candidate[of_candidate]
    both = int(shared.sum())
    only_in_base, only_in_candidate = int(in_base.sum()) - both, int(in_candidate.sum()) - both
    base, candidate = base[of_base], candidate[of_candidate]
    base_missing, candidate_missing = np.isnan(base), np.isnan(candidate)
    defined = shared & ~base_missing & ~candidate_missing
    return Sample(
        base=base[defined],
        candidate=candidate[defined],
        with_nulls=(base[shared], candidate[shared]),
        shared=defined.nonzero()[0],
        paired=True,
        only_in_base=only_in_base,
        only_in_candidate=only_in_candidate,
        undefined_in_base=int((shared & base_missing & ~candidate_missing).sum()),
        undefined_in_candidate=int((shared & ~base_missing & candidate_missing).sum()),
        undefined_in_both=int((shared & base_missing & candidate_missing).sum()),
    )


class Account(Struct, frozen=True):
    """The outcome of every conversation of one arm.

    Attributes:
      conversations: all of the arm, including those left out of the means.
      paired: conversations that are part of a pair.
      repeated: how many of these share their key with another of the same arm.
      unmatched: how many were left out, by reason.
    """

    conversations: int
    paired: int
    repeated: int
    unmatched: Mapping[str, int]


def account(mine: Grouped, other: Grouped) -> Account:
    """Account for one of two paired arms, counting each conversation exactly once."""
    reasons = Counter(left.reason for left in mine.arm.left_out.values())
    if mine.unkeyed:
        reasons["have no value to pair by"] = mine.unkeyed
    shared, sizes = set(other.keys), np.bincount(mine.group_of, minlength=len(mine.keys))
    pairs = repeated = 0
    for key, size in zip(mine.keys, sizes.tolist(), strict=True):
        if key in shared:
            pairs += size
            repeated += size if size > 1 else 0
        else:
            left = other.arm.left_out.get(key)
            why = f"whose counterpart {left.reason}" if left else "without a counterpart"
            reasons[why] += size
    return Account(len(mine.arm.ids) + len(mine.arm.left_out), pairs, repeated, dict(reasons))
