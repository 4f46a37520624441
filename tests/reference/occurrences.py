"""First occurrences and duplicates among the results of a turn (SPEC 4)."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.reference.evidence import evidence_of, keys_of
from tests.reference.verification import verify


@dataclass
class Occurrence:
    """A result at its position; `first` is its first occurrence, which may be itself."""

    i: int
    iteration: int
    call_position: int
    rank: int
    gain: int | None
    evidence: Any
    first: Any = None
    key: str | None = None
    verdict: Any = None

    def is_first(self):
        return self.first is self


@dataclass
class Tallies:
    """Counts of accepted and rejected pairs, and of candidates that were cut."""

    accepted: Counter = field(default_factory=Counter)
    near_misses: Counter = field(default_factory=Counter)
    near_misses_by_rule: Counter = field(default_factory=Counter)
    candidates_cut: int = 0


def occurrences_of(calls_by_iteration):
    """All results in order; `calls_by_iteration` is a list of (iteration, ordered records)."""
    return [
        Occurrence(i, iteration, position, rank, result["gain"], evidence_of(result))
        for i, (iteration, calls) in enumerate(calls_by_iteration, start=1)
        for position, call in enumerate(calls)
        for rank, result in enumerate(call["results"], start=1)
    ]


def mark_duplicates(occurrences, max_candidates, tallies, unit="document"):
    """Set `first`, `key` and `verdict` of each occurrence, in order."""
    registered = []
    for occurrence in occurrences:
        keys = keys_of(occurrence.evidence)
        occurrence.first = occurrence
        for earlier, kept_keys in registered:
            shared = [key for key in keys if key in kept_keys]
            if not shared:
                continue
            verdict = verify(earlier.evidence, occurrence.evidence, unit)
            if verdict.duplicate:
                occurrence.first = earlier.first
                occurrence.key = shared[0][0]
                occurrence.verdict = verdict
                tallies.accepted[verdict.rule, verdict.step, verdict.clause] += 1
                break
            tallies.near_misses[verdict.step] += 1
            tallies.near_misses_by_rule[verdict.rule, verdict.step] += 1
        register(occurrence, keys, registered, max_candidates, tallies)


def register(occurrence, keys, registered, max_candidates, tallies):
    """Make an occurrence a candidate under each of its keys below `max_candidates`."""
    if any(earlier.evidence == occurrence.evidence for earlier, _ in registered):
        return
    kept_keys = []
    for key in keys:
        if sum(key in kept for _, kept in registered) < max_candidates:
            kept_keys.append(key)
        else:
            tallies.candidates_cut += 1
    registered.append((occurrence, kept_keys))
