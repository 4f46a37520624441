"""Rejects many candidates at once, with the same result as the steps of SPEC 4.3 one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from goodgain.transforms.core.dedup.evidence import Evidence, Value
from goodgain.transforms.core.dedup.evidence_column import (
    EvidenceColumn,
    Marks,
    Numbers,
    extend_column,
)
from goodgain.transforms.core.dedup.rules import (
    CONTENT,
    NO_TYPE,
    SNIPPET,
    URL,
    RuleTable,
    TypeRules,
    is_field,
)
from goodgain.transforms.core.dedup.verification import Step

_FEW = 8  # candidates; verifying these costs less than an operation on columns
_FIRST_CAPACITY = 256  # occurrences


class BulkReject:
    """Finds candidates that verification would surely reject, by operations on columns.

    A result may share a key, such as a title or the site of a file, with hundreds of results that
    are clearly other documents. Comparing it with each would dominate the run time. This class
    decides only the clear cases, as `verify` would, and leaves the others to `verify`.
    """

    def __init__(self, rules: RuleTable, occurrences: Sequence[Evidence]) -> None:
        """`occurrences` is the evidence of all occurrences, by number; it may grow."""
        self._rules = rules
        # Only these attributes have a column: they are few, and all steps except the last reject by
        # them only. An id without a column would count as absent, so that a later step would
        # decide.
        self._with_column = frozenset(
            (URL, *rules.url_parameters.values(), *rules.fields.values(), *rules.ids.values())
        )
        self._occurrences = occurrences
        self._stored = 0
        self._capacity = 0
        self._columns: dict[int, EvidenceColumn] = {}  # by attribute
        self._types = np.zeros(0, np.int32)  # by occurrence, a code
        self._type_codes: dict[int, int] = {}
        self._type_numbers: list[int] = []  # by code

    def reject(
        self, evidence: Evidence, candidates: Numbers
    ) -> tuple[Numbers, list[tuple[Step, Numbers]]]:
        """The remaining candidates, in order, and those that each step certainly rejects."""
        self._store_new()
        rejecting = _Rejecting(evidence.values, self._columns, self._rules)
        remaining = [
            pair
            for type_number, group in self._by_type(
                evidence.layout.type_number, candidates, rejecting
            )
            for pair in rejecting.apply(group, self._rules.of_type(type_number))
        ]
        return np.sort(np.concatenate(remaining)), rejecting.rejected

    def _by_type(
        self, type_number: int, candidates: Numbers, rejecting: _Rejecting
    ) -> Iterator[tuple[int, Numbers]]:
        """Candidates that are not of another type, with the type whose rules apply."""
        types = self._types[candidates]
        if type_number == NO_TYPE:
            for code in np.unique(types):
                yield self._type_numbers[code], candidates[types == code]
        else:
            others = (types != self._code(type_number)) & (types != self._code(NO_TYPE))
            yield type_number, rejecting.reject(Step.TYPE, others, candidates)

    def _code(self, type_number: int) -> int:
        """The code of a type in its column."""
        code = self._type_codes.setdefault(type_number, len(self._type_numbers))
        if code == len(self._type_numbers):
            self._type_numbers.append(type_number)
        return code

    def _store_new(self) -> None:
        occurrences = self._occurrences
        if len(occurrences) > self._capacity:
            self._capacity = max(_FIRST_CAPACITY, 2 * len(occurrences))
            self._types = extend_column(self._types, self._capacity)
            for column in self._columns.values():
                column.grow(self._capacity)
        for occurrence in range(self._stored, len(occurrences)):
            evidence = occurrences[occurrence]
            self._types[occurrence] = self._code(evidence.layout.type_number)
            for attribute, value in evidence.values.items():
                if attribute in self._with_column:
                    self._column(attribute).put(occurrence, value)
        self._stored = len(occurrences)

    def _column(self, attribute: int) -> EvidenceColumn:
        column = self._columns.get(attribute)
        if column is None:
            column = self._columns[attribute] = EvidenceColumn(self._capacity)
        return column


class _Rejecting(Struct):
    """Compares one result with many earlier ones.

    Attributes:
      rejected: the candidates that are other documents, with the step that rejects them.
    """

    values: dict[int, Value]
    columns: dict[int, EvidenceColumn]
    rules: RuleTable
    rejected: list[tuple[Step, Numbers]] = []

    def apply(self, remaining: Numbers, applicable: TypeRules) -> Iterator[Numbers]:
        """Apply the steps in order; yields the candidates left for verification."""
        if self.rules.passage_ids is not None:
            undecided, remaining = self._reject_other_passages(self.rules.passage_ids, remaining)
            yield undecided
        remaining = self._reject_unequal(Step.IDS, applicable.ids, remaining)
        undecided, remaining = self._split_by_ids(applicable, remaining)
        yield undecided
        if self.rules.policy != "ids":
            remaining = self._reject_unequal(Step.URL, (URL,), remaining)
            equal, remaining = self._equal(URL, remaining)
            parameters = self.rules.url_parameters.values()
            yield self._reject_unequal(Step.URL_IDENTITY, parameters, equal)
            reject_on = applicable.reject_on
            fields = filter(is_field, self.values) if reject_on is None else reject_on
            remaining = self._reject_unequal(Step.FIELDS, fields, remaining)
        yield remaining

    def reject(self, step: Step, marks: Marks, numbers: Numbers) -> Numbers:
        """Let a step reject the marked candidates, and return the others."""
        rejected, remaining = _split(marks, numbers)
        if rejected.size:
            self.rejected.append((step, rejected))
        return remaining

    def _reject_unequal(self, step: Step, attributes: Iterable[int], remaining: Numbers) -> Numbers:
        """Let a step reject candidates that certainly have another value of an attribute."""
        for value, column in self._pair_attributes(attributes):
            if remaining.size <= _FEW:
                break
            remaining = self.reject(step, column.mark_unequal(remaining, value), remaining)
        return remaining

    def _reject_other_passages(
        self, passage_ids: Iterable[int], remaining: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Candidates that no step after that of passages may reject, and the others."""
        remaining = self._reject_unequal(Step.PASSAGE, (*passage_ids, CONTENT), remaining)
        if remaining.size <= _FEW:
            return remaining, remaining[:0]
        marks = np.zeros(remaining.size, np.bool_)
        for _, column in self._pair_attributes(passage_ids):
            if column.incomplete:
                marks |= column.mark_unknown(remaining)
        for value, column in self._pair_attributes((SNIPPET,)):
            unequal = column.mark_unequal(remaining, value)
            # Snippets count where not both have content.
            for _, contents in self._pair_attributes((CONTENT,)):
                unequal &= contents.mark_absent(remaining)
            marks |= unequal
        return _split(marks, remaining)

    def _split_by_ids(self, applicable: TypeRules, remaining: Numbers) -> tuple[Numbers, Numbers]:
        """Candidates that no step after the ids may reject, and the others."""
        if remaining.size <= _FEW:
            return remaining, remaining[:0]
        marks = np.zeros(remaining.size, np.bool_)
        for value, column in self._pair_attributes(applicable.definitive):
            marks |= column.equal(remaining, value)
        for _, column in self._pair_attributes(applicable.ids):
            if column.incomplete:
                marks |= column.mark_unknown(remaining)
        return _split(marks, remaining)

    def _equal(self, attribute: int, remaining: Numbers) -> tuple[Numbers, Numbers]:
        """Candidates that have the same value of an attribute, and the others."""
        for value, column in self._pair_attributes((attribute,)):
            return _split(column.equal(remaining, value), remaining)
        return remaining[:0], remaining

    def _pair_attributes(self, attributes: Iterable[int]) -> Iterator[tuple[Value, EvidenceColumn]]:
        """Value and column of each attribute that the result and some occurrence have."""
        for attribute in attributes:
            value, column = self.values.get(attribute), self.columns.get(attribute)
            if value is not None and column is not None:
                yield value, column


def _split(marks: Marks, numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The marked ones and the others."""
    return (numbers[marks], numbers[~marks]) if marks.any() else (numbers[:0], numbers)
