"""Rejecting many candidates at once: what the first steps of SPEC 4.3 would say of each pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from transforms.core.evidence import Evidence, Value
from transforms.core.rules import NO_TYPE, URL, RuleTable, TypeRules, is_field
from transforms.core.verification import Step

Kind = TypeVar("Kind", bound=np.generic)
Numbers = NDArray[np.intp]
Reasons = NDArray[np.int8]
_Columns = dict[int, NDArray[np.uint64]]  # by attribute, the value of each occurrence

# A reason is the place of a step in STEPS; the first says that nothing is decided yet.
STEPS = (Step.INCONCLUSIVE, Step.TYPE, Step.IDS, Step.URL, Step.URL_IDENTITY, Step.FIELDS)
_UNDECIDED, _TYPE, _IDS, _URL, _URL_IDENTITY, _FIELDS = range(len(STEPS))
_ABSENT = 0  # in a column; as unlikely to be a digest as two digests are to meet
_NOT_PLAIN = 0  # in the column of types: an id has several values
_UNTYPED = 1
_FEW = 8  # candidates
_FIRST_ROOM = 256


class Sieve:
    """Finds, by operations on columns, candidates that verification would surely reject.

    A result may share a key with hundreds of others that are plainly other documents: the site of
    a file, a title. Comparing it with them one by one costs more than all the rest. What is decided
    here is decided as `verify` would; whatever is not plain is left to it.
    """

    def __init__(self, rules: RuleTable, occurrences: Sequence[Evidence]) -> None:
        """Take the evidence of all occurrences, by their number; the sequence may grow."""
        self._rules = rules
        # Only these have a column: few, and all that a step but the last rejects by. An id without
        # one would count as absent, and the steps behind it would decide.
        self._named = frozenset(
            (URL, *rules.url_parameters.values(), *rules.fields.values(), *rules.ids.values())
        )
        self._occurrences = occurrences
        self._taken = 0
        self._room = 0
        self._type_codes = {NO_TYPE: _UNTYPED}
        self._types = np.zeros(0, np.int32)
        self._columns: _Columns = {}

    def reasons(self, evidence: Evidence, candidates: Numbers) -> Reasons:
        """By candidate, the reason why it is another document; 0 where it may be the same."""
        self._take_new()
        comparison = _Comparison(evidence.values, candidates, self._columns)
        if evidence.several:
            return comparison.reasons
        types = self._types[candidates]
        compared = types == self._type_code(evidence.type_number)
        if evidence.type_number != NO_TYPE:
            compared |= types == _UNTYPED
            comparison.reasons[~compared & (types != _NOT_PLAIN)] = _TYPE
        # An untyped result and a typed one are compared by the rules of the type: not done here.
        applicable = self._rules.of_type(evidence.type_number)
        left = _by_ids(comparison, np.flatnonzero(compared), applicable)
        if self._rules.policy != "ids":
            left = _by_url(comparison, left, self._rules)
            reject_on = applicable.reject_on
            fields = filter(is_field, evidence.values) if reject_on is None else reject_on
            comparison.keep_equal(_FIELDS, fields, left)
        return comparison.reasons

    def _type_code(self, type_number: int) -> int:
        return self._type_codes.setdefault(type_number, len(self._type_codes) + _UNTYPED)

    def _take_new(self) -> None:
        occurrences = self._occurrences
        if len(occurrences) > self._room:
            self._room = max(_FIRST_ROOM, 2 * len(occurrences))
            self._types = _longer(self._types, self._room)
            self._columns = {
                attribute: _longer(column, self._room)
                for attribute, column in self._columns.items()
            }
        for occurrence in range(self._taken, len(occurrences)):
            evidence = occurrences[occurrence]
            if evidence.several:
                continue
            self._types[occurrence] = self._type_code(evidence.type_number)
            for attribute, value in evidence.values.items():
                if attribute in self._named and isinstance(value, int):
                    self._column(attribute)[occurrence] = value
        self._taken = len(occurrences)

    def _column(self, attribute: int) -> NDArray[np.uint64]:
        column = self._columns.get(attribute)
        if column is None:
            column = self._columns[attribute] = np.zeros(self._room, np.uint64)
        return column


class _Comparison:
    """One result against many earlier ones, which are named by their place among the candidates.

    Attributes:
      values: of the result, by attribute.
      reasons: by candidate, why it is another document; 0 where nothing was decided.
    """

    def __init__(self, values: dict[int, Value], candidates: Numbers, columns: _Columns) -> None:
        self.values = values
        self._candidates = candidates
        self._columns = columns
        self.reasons: Reasons = np.zeros(candidates.size, np.int8)

    def split(self, reason: int, attribute: int, places: Numbers) -> tuple[Numbers, Numbers]:
        """Give a reason to candidates with another value; gives those with this and with none.

        A few are left undecided, in neither: verifying them costs less than any operation here.
        """
        value, column = self.values.get(attribute), self._columns.get(attribute)
        if places.size <= _FEW:
            return places[:0], places[:0]
        if value is None or column is None:
            return places[:0], places
        theirs = column[self._candidates[places]]
        equal, absent = theirs == value, theirs == _ABSENT
        self.reasons[places[~(equal | absent)]] = reason
        return places[equal], places[absent]

    def keep_equal(self, reason: int, attributes: Iterable[int], places: Numbers) -> Numbers:
        """Give a reason to candidates that differ in any attribute; gives the others."""
        for attribute in attributes:
            if attribute in self.values:
                places = np.concatenate(self.split(reason, attribute, places))
        return places


def _by_ids(comparison: _Comparison, places: Numbers, applicable: TypeRules) -> Numbers:
    """Reject what differs in an id; gives the others that have no definitive id in common."""
    agreeing = places[:0]
    for attribute in applicable.ids:
        if attribute not in comparison.values:
            continue
        agreeing = comparison.keep_equal(_IDS, (attribute,), agreeing)
        equal, places = comparison.split(_IDS, attribute, places)
        if attribute in applicable.definitive:
            agreeing = np.concatenate((agreeing, equal))
        else:
            places = np.concatenate((equal, places))
    return places


def _by_url(comparison: _Comparison, places: Numbers, rules: RuleTable) -> Numbers:
    """Reject what differs in URL or in an identity parameter; gives what has no URL to compare."""
    equal, absent = comparison.split(_URL, URL, places)
    comparison.keep_equal(_URL_IDENTITY, rules.url_parameters.values(), equal)
    return absent


def _longer(column: NDArray[Kind], room: int) -> NDArray[Kind]:
    grown = np.zeros(room, column.dtype)
    grown[: column.size] = column
    return grown
