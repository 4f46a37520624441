"""The evidence of a topic's pool documents: keys propose, verification decides (SPEC 9)."""

from __future__ import annotations

from collections.abc import Container, Sequence

from goodgain.transforms.core.dedup.evidence import Evidence, read_evidence
from goodgain.transforms.core.dedup.fingerprint import ResultFingerprint
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.dedup.verification import Verdict, verify

_Key = int | tuple[bytes, bytes]


def same_evidence(result: ResultFingerprint) -> tuple[bytes, bytes]:
    """A key that is equal exactly for results with the same evidence and type."""
    return result.codes, result.digests


class PoolIndex:
    """The evidence of a topic's documents, in the order in which they were added; can grow.

    Attributes:
      cut: number of registrations left out because a key already had `max_candidates` (SPEC 4.2).
    """

    def __init__(self, rules: RuleTable) -> None:
        self._rules = rules
        self._documents: list[list[Evidence]] = []
        self._known: list[dict[tuple[bytes, bytes], int]] = []
        self._candidates: dict[_Key, list[tuple[int, int]]] = {}
        self.cut = 0

    def add_document(self) -> int:
        """Add a document without evidence, and return its number."""
        self._documents.append([])
        self._known.append({})
        return len(self._documents) - 1

    def register(self, document: int, result: ResultFingerprint) -> int:
        """Add an occurrence to a document, and return the number of its evidence there."""
        known = self._known[document]
        identity = same_evidence(result)
        place = known.setdefault(identity, len(known))
        if place < len(self._documents[document]):
            return place
        evidence = read_evidence(result)
        self._documents[document].append(evidence)
        for key in _keys(evidence, identity):
            candidates = self._candidates.setdefault(key, [])
            if len(candidates) < self._rules.max_candidates:
                candidates.append((document, place))
            else:
                self.cut += 1
        return place

    def find_first_match(
        self, results: Sequence[ResultFingerprint], taken: Container[int]
    ) -> tuple[int, Verdict] | None:
        """The first pool document that is not taken and is verified by an occurrence, and why.

        Args:
          results: the occurrences of one document of a turn, in order.
          taken: numbers of pool documents that match other documents of its conversation.
        """
        if self._rules.policy == "none":
            return None
        proposed: set[tuple[int, int, int]] = set()
        own = [read_evidence(result) for result in results]
        for occurrence, (evidence, result) in enumerate(zip(own, results, strict=True)):
            for key in _keys(evidence, same_evidence(result)):
                for document, place in self._candidates.get(key, ()):
                    if document not in taken:
                        proposed.add((document, occurrence, place))
        for document, occurrence, place in sorted(proposed):
            verdict = verify(self._documents[document][place], own[occurrence], self._rules)
            if verdict.duplicate:
                return document, verdict
        return None


def _keys(evidence: Evidence, identity: tuple[bytes, bytes]) -> list[_Key]:
    """The candidate keys of SPEC 4.2, including that of the whole evidence."""
    keys: list[_Key] = list(dict.fromkeys(evidence.keys))
    return [*keys, identity] if evidence.layout.identifies_alone else keys


def is_weak(results: Sequence[ResultFingerprint], rules: RuleTable) -> bool:
    """Whether no occurrence of a document would match even an exact copy of itself (SPEC 9)."""
    if rules.policy == "none":
        return True
    return not any(_verifies_itself(read_evidence(result), rules) for result in results)


def _verifies_itself(evidence: Evidence, rules: RuleTable) -> bool:
    proposed = bool(evidence.keys) or evidence.layout.identifies_alone
    return proposed and verify(evidence, evidence, rules).duplicate
