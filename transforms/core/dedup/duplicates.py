"""Finds duplicates in order: keys propose earlier results, verification decides (SPEC 4)."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from goodgain.transforms.core.dedup.agreement import texts_differ
from goodgain.transforms.core.dedup.buckets import (
    Bucket,
    contains_occurrence,
    merge_large,
    merge_small,
)
from goodgain.transforms.core.dedup.bulk_reject import BulkReject
from goodgain.transforms.core.dedup.evidence import Evidence, read_evidence
from goodgain.transforms.core.dedup.evidence_column import Numbers
from goodgain.transforms.core.dedup.fingerprint import ResultFingerprint
from goodgain.transforms.core.dedup.keys import EQUAL_EVIDENCE
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.dedup.verification import Step, Verdict, verify

MANY_CANDIDATES = 32  # from this number on, clear cases are rejected in bulk

_Misses = dict[Step, int]


class Duplicate(Struct, frozen=True):
    """Why a result is a duplicate.

    Attributes:
      first: position of the first occurrence, from 0, among all results of the turn.
      keys: numbers of the attributes whose keys proposed the pair.
      contradicted: if ids decided, whether URL and title differ from those of the occurrence that
        verified it; None if one of them cannot be compared.
    """

    first: int
    keys: tuple[int, ...]
    verdict: Verdict
    contradicted: bool | None = None


class _Known(Struct):
    """What is known about one distinct piece of evidence.

    Attributes:
      occurrence: its number among the registered occurrences.
      repeat: the decision for every further result with the same evidence; None if not yet known.
      near_misses: number of candidates that each step rejected before `repeat` was found.
    """

    occurrence: int
    repeat: Duplicate | None
    near_misses: _Misses


class Deduplicator:
    """Finds the duplicates within a turn, result by result in the order of SPEC 3.

    Attributes:
      near_misses: number of candidates that verification rejected, by step.
      cut: number of registrations left out because a key already had `max_candidates` (SPEC 4.2).
    """

    def __init__(self, rules: RuleTable) -> None:
        self._rules = rules
        self._index: dict[int, Bucket] = {}  # by key
        self._known: dict[tuple[bytes, bytes], _Known] = {}
        self._evidence: list[Evidence] = []  # by occurrence
        self._first: list[int] = []  # by occurrence, the position of its first occurrence
        self._bulk_reject = BulkReject(rules, self._evidence)
        self._position = 0
        self.near_misses: Counter[Step] = Counter()
        self.cut = 0

    def add(self, result: ResultFingerprint) -> Duplicate | None:
        """Add the next result; returns None if it is a first occurrence."""
        position = self._position
        self._position = position + 1
        if self._rules.policy == "none":
            return None
        identity = (result.codes, result.digests)
        known = self._known.get(identity)
        if known is not None:
            return self._add_equal(known)
        evidence = read_evidence(result)
        misses: _Misses = {}
        buckets = self._buckets(evidence)
        duplicate = self._first_verified(evidence, buckets, misses) if buckets else None
        occurrence = self._register(evidence, position if duplicate is None else duplicate.first)
        self._known[identity] = _Known(occurrence, duplicate, misses)
        return duplicate

    def find_or_add(self, result: ResultFingerprint) -> int:
        """Add the next result; returns the position of its document's first occurrence."""
        position = self._position
        duplicate = self.add(result)
        return position if duplicate is None else duplicate.first

    def find_first_match(self, result: ResultFingerprint) -> int | None:
        """The first document that a result from elsewhere belongs to; None if there is none.

        Of the documents in the order of their first occurrences, that is the first of which the
        result verifies an occurrence, wherever that stands. Nothing is added or counted.
        """
        if self._rules.policy == "none":
            return None
        evidence = read_evidence(result)
        buckets = self._buckets(evidence)
        known = self._known.get((result.codes, result.digests))
        if known is not None and evidence.layout.identifies_alone:
            buckets.append(known.occurrence)
        candidates: list[int] = merge_large(buckets).tolist() if buckets else []
        for occurrence in sorted(
            candidates, key=lambda candidate: (self._first[candidate], candidate)
        ):
            if verify(self._evidence[occurrence], evidence, self._rules).duplicate:
                return self._first[occurrence]
        return None

    def _add_equal(self, known: _Known) -> Duplicate | None:
        """Add a result with the same evidence as an earlier one, which stays registered."""
        if known.repeat is None:
            evidence = self._evidence[known.occurrence]
            buckets = self._buckets(evidence)
            if evidence.layout.identifies_alone:
                buckets.append(known.occurrence)
            known.near_misses = {}
            known.repeat = self._first_verified(evidence, buckets, known.near_misses)
        else:
            self._count(known.near_misses)
        return known.repeat

    def _buckets(self, evidence: Evidence) -> list[Bucket]:
        """For each key, the occurrences that share it."""
        index = self._index
        return [bucket for key in evidence.keys if (bucket := index.get(key)) is not None]

    def _first_verified(
        self, evidence: Evidence, buckets: list[Bucket], misses: _Misses
    ) -> Duplicate | None:
        """The first candidate that verifies; counts how many each step rejected before it."""
        candidates = merge_small(buckets)
        if candidates is None or len(candidates) >= MANY_CANDIDATES:
            verified = self._verify_many(evidence, merge_large(buckets), misses)
        else:
            verified = self._verify_in_order(evidence, candidates, misses)
        self._count(misses)
        if verified is None:
            return None
        occurrence, verdict = verified
        contradicted = None
        if verdict.step is Step.IDS:
            contradicted = texts_differ(self._evidence[occurrence], evidence)
        keys = self._proposers(evidence, occurrence)
        return Duplicate(self._first[occurrence], keys, verdict, contradicted)

    def _verify_many(
        self, evidence: Evidence, candidates: Numbers, misses: _Misses
    ) -> tuple[int, Verdict] | None:
        """Like `_verify_in_order`, but clear cases are rejected in bulk."""
        remaining, rejected_by_step = self._bulk_reject.reject(evidence, candidates)
        verified = self._verify_in_order(evidence, remaining.tolist(), misses)
        for step, rejected in rejected_by_step:
            before = rejected.size if verified is None else int((rejected < verified[0]).sum())
            if before:
                misses[step] = misses.get(step, 0) + before
        return verified

    def _verify_in_order(
        self, evidence: Evidence, candidates: Iterable[int], misses: _Misses
    ) -> tuple[int, Verdict] | None:
        for occurrence in candidates:
            verdict = verify(self._evidence[occurrence], evidence, self._rules)
            if verdict.duplicate:
                return occurrence, verdict
            misses[verdict.step] = misses.get(verdict.step, 0) + 1
        return None

    def _count(self, misses: _Misses) -> None:
        for step, rejected in misses.items():  # very few, for which Counter.update is slow
            self.near_misses[step] += rejected

    def _proposers(self, evidence: Evidence, occurrence: int) -> tuple[int, ...]:
        """The attributes whose keys proposed an occurrence."""
        keys = [
            attribute
            for attribute, key in zip(evidence.layout.key_attributes, evidence.keys, strict=True)
            if contains_occurrence(self._index.get(key), occurrence)
        ]
        # Only a result with equal evidence can have no other key in common.
        return tuple(keys) or (EQUAL_EVIDENCE,)

    def _register(self, evidence: Evidence, first: int) -> int:
        occurrence = len(self._first)
        self._first.append(first)
        self._evidence.append(evidence)
        index = self._index
        for key in dict.fromkeys(evidence.keys):  # two spellings of an id may share a key
            bucket = index.setdefault(key, occurrence)
            if bucket == occurrence:
                continue
            if isinstance(bucket, int):
                bucket = index[key] = [bucket]
            if len(bucket) >= self._rules.max_candidates:
                self.cut += 1
                continue
            if len(bucket) == MANY_CANDIDATES:
                bucket = index[key] = array("q", bucket)
            bucket.append(occurrence)
        return occurrence
