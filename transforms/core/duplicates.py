"""Removing duplicates in order: keys propose earlier results, verification decides (SPEC 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from transforms.core.evidence import START_AND_END, Evidence, read_evidence
from transforms.core.fingerprint import ResultPrint
from transforms.core.rules import (
    CONTENT,
    DISPLAY_NAME,
    FILE_NAME,
    GENERIC_ID,
    SNIPPET,
    SUBJECT,
    TITLE,
    URL,
    RuleTable,
    is_named_id,
)
from transforms.core.verification import Step, Verdict, verify

EQUAL_EVIDENCE = 0  # the key that whole evidence makes; no attribute has this number
_KEY_KINDS = {
    GENERIC_ID: "id",
    URL: "url",
    SNIPPET: "snippet",
    CONTENT: "content",
    TITLE: "title",
    SUBJECT: "subject",
    FILE_NAME: "file_name",
    DISPLAY_NAME: "display_name",
    START_AND_END: "start+end",
    EQUAL_EVIDENCE: "evidence",
}
_KEY_ORDER = {attribute: place for place, attribute in enumerate(_KEY_KINDS, start=1)}


class Duplicate(Struct, frozen=True):
    """Why a result is a duplicate.

    Attributes:
      first: place of the first occurrence, counted from 0 over all results of the turn.
      keys: numbers of the attributes whose keys proposed the pair.
      verdict: the step and clause that decided.
    """

    first: int
    keys: tuple[int, ...]
    verdict: Verdict


class _Known:
    """What is remembered of one distinct piece of evidence.

    Attributes:
      occurrence: its number among the registered occurrences.
      repeat: what every further result with the same evidence is; None while that is not settled.
      near_misses: the steps that rejected the candidates tried before `repeat` held.
    """

    __slots__ = ("near_misses", "occurrence", "repeat")

    def __init__(self, occurrence: int, repeat: Duplicate | None, near_misses: list[Step]) -> None:
        self.occurrence = occurrence
        self.repeat = repeat
        self.near_misses = near_misses


class Deduplicator:
    """Decides, result by result in the order of SPEC 3, which are duplicates within one turn.

    Attributes:
      near_misses: candidates that verification rejected, by the step that did.
      cut: registrations left out because a key had `max_candidates` already (SPEC 4.2).
    """

    def __init__(self, rules: RuleTable) -> None:
        self._rules = rules
        self._index: dict[int, list[int]] = {}
        self._known: dict[tuple[bytes, bytes], _Known] = {}
        self._evidence: list[Evidence] = []  # by occurrence
        self._first: list[int] = []  # by occurrence: the place of its first occurrence
        self._place = 0
        self.near_misses: Counter[Step] = Counter()
        self.cut = 0

    def add(self, result: ResultPrint) -> Duplicate | None:
        """Take the next result; None when it is a first occurrence."""
        place = self._place
        self._place += 1
        identity = (result.codes, result.digests)
        known = self._known.get(identity)
        if known is not None and known.repeat is not None:
            self.near_misses.update(known.near_misses)
            return known.repeat
        evidence = read_evidence(result) if known is None else self._evidence[known.occurrence]
        misses: list[Step] = []
        duplicate = self._find(evidence, known, misses)
        self.near_misses.update(misses)
        if known is not None:
            known.repeat, known.near_misses = duplicate, misses
        else:
            occurrence = self._register(evidence, place if duplicate is None else duplicate.first)
            self._known[identity] = _Known(occurrence, duplicate, misses)
        return duplicate

    def _find(
        self, evidence: Evidence, known: _Known | None, misses: list[Step]
    ) -> Duplicate | None:
        """The first candidate, in order of occurrence, that verifies."""
        index = self._index
        hits = [found for key in evidence.keys if (found := index.get(key))]
        if known is not None and evidence.weighty:
            hits.append([known.occurrence])
        if not hits:
            return None
        candidates = hits[0]
        for found in hits:
            if found != candidates:
                candidates = sorted({one for several in hits for one in several})
                break
        for occurrence in candidates:
            verdict = verify(self._evidence[occurrence], evidence, self._rules)
            if verdict.duplicate:
                return Duplicate(
                    self._first[occurrence], self._proposers(evidence, known, occurrence), verdict
                )
            misses.append(verdict.step)
        return None

    def _proposers(
        self, evidence: Evidence, known: _Known | None, occurrence: int
    ) -> tuple[int, ...]:
        keys = [key >> 64 for key in evidence.keys if occurrence in self._index.get(key, ())]
        if known is not None and evidence.weighty and known.occurrence == occurrence:
            keys.append(EQUAL_EVIDENCE)
        return tuple(keys)

    def _register(self, evidence: Evidence, first: int) -> int:
        occurrence = len(self._first)
        self._first.append(first)
        self._evidence.append(evidence)
        most = self._rules.max_candidates
        for key in evidence.keys:
            candidates = self._index.setdefault(key, [])
            if len(candidates) < most:
                candidates.append(occurrence)
            else:
                self.cut += 1
        return occurrence


def key_name(keys: tuple[int, ...], id_name: Callable[[int], str]) -> str:
    """The name of the first, in the order of SPEC 4.2, of the keys that proposed a pair.

    Args:
      keys: attribute numbers.
      id_name: gives the name of a domain-specific id by its number.
    """
    named = sorted(id_name(key) for key in keys if is_named_id(key))
    if named:
        return f"id:{named[0]}"
    return _KEY_KINDS[min(keys, key=_KEY_ORDER.__getitem__)]
