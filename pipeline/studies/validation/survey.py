"""What trace files contain, without scoring them: counts, mistakes, unknown names (SPEC 2, 3)."""

from __future__ import annotations

import re
from collections import Counter
from sys import getsizeof

from msgspec import Struct

from goodgain.pipeline.studies.validation.result_counts import ResultCounts, name_to_count
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.files.read_counts import ReadCounts
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.delivery import BEFORE_ALL_TIME, identity_of
from goodgain.transforms.core.scoring.sketches import CallSketch

_MOST_VALUES = 20  # distinct values of an attribute to keep
_BYTES_KEPT_PER_RECORD = 600  # bytes, in addition to its ids
_INDEX = re.compile(r"\[[0-9]+\]")
_SPECIFIC = re.compile(r",? got .*|:? \(?['\"].*| \(.*|(?<=JSON):.*", re.DOTALL)
_EXAMPLES = 3
_TIMES_AT_ONCE = 1_000
_MOST_REASONS = 100
_OTHER_REASONS = "other reasons"


class Rejection(Struct):
    """One kind of mistake.

    Attributes:
      reason: the reason in general terms, without the bad values.
    """

    reason: str
    records: int
    examples: list[RejectedRecord]


class Rejections:
    """Collects rejected rows; memory does not grow with them."""

    def __init__(self) -> None:
        self._by_reason: dict[str, Rejection] = {}

    def add(self, row: RejectedRecord) -> None:
        """Count a row."""
        reason = generalise_reason(row.reason)
        if reason not in self._by_reason and len(self._by_reason) >= _MOST_REASONS:
            reason = _OTHER_REASONS
        rejection = self._by_reason.setdefault(reason, Rejection(reason, 0, []))
        rejection.records += row.records
        if len(rejection.examples) < _EXAMPLES:
            rejection.examples.append(row)

    def by_frequency(self) -> list[Rejection]:
        """The kinds, the most frequent first."""
        return sorted(
            self._by_reason.values(), key=lambda rejection: (-rejection.records, rejection.reason)
        )


def generalise_reason(reason: str) -> str:
    """The reason without the values that differ between records with the same mistake.

    `results[3].gain must be a whole number from 0 to 4, got 7.` -> `results[].gain must be a whole
    number from 0 to 4`.
    """
    return _SPECIFIC.sub("", _INDEX.sub("[]", reason)).rstrip(".")


class Survey:
    """Running counts; memory grows with conversations, turns and record identities only.

    Those of times and results are up to date after `settle`.

    Attributes:
      records: what was read.
      empty_calls, results: number of those without results, and of all their results. Of records
        with the same identity the first counts, here and in all counts of results.
      redelivered: number of usable records whose identity was seen before (SPEC 3).
      conflicting: number of records that differ from the one of their identity that counts, which
        is the latest, of several at that time the one with the greatest digest (SPEC 3).
      of_results: counts by what results have.
      attributes: number of records that have an attribute, by its name.
      attribute_values: for each attribute, up to 20 non-blank values.
      first_timestamp, last_timestamp: milliseconds since 1970 UTC.
      data: further counts, by the names that `scoring.data_counts` uses for scored turns.
      conversations, turns, iterations: all with a usable record.
      flagged: conversations with a rejected record, which are left out of the means.

    Args:
      clock: when reading began, in milliseconds since 1970 UTC; None if times ahead are not odd.
      budget: counts the bytes that are kept, and raises beyond its limit.
    """

    def __init__(
        self, rules: RuleTable, clock: int | None, budget: MemoryBudget | None = None
    ) -> None:
        self._clock = clock
        self._budget = budget or MemoryBudget(None)
        self.data: Counter[str] = Counter()
        self.records = ReadCounts()
        self.empty_calls = self.results = 0
        self.redelivered = self.conflicting = self.timed = 0
        self.of_results = ResultCounts(rules)
        self.attributes: Counter[str] = Counter()
        self.attribute_values: dict[str, set[str]] = {}
        self.first_timestamp: int | None = None
        self.last_timestamp: int | None = None
        self.rejections = Rejections()
        self.conversations: set[str] = set()
        self.flagged: set[str] = set()
        self.turns: set[tuple[str, int]] = set()
        self.iterations: set[tuple[str, int, int]] = set()
        self._counting: dict[object, tuple[int, bytes]] = {}  # by identity: time, digest
        self._copies: dict[object, Counter[bytes]] = {}  # by identity, of those with several
        self._times: list[int] = []  # to be counted

    def counts(self) -> dict[str, int]:
        """The counts that warnings are based on, over all usable records."""
        gains = self.of_results.gains
        labels = {data_counts.LABELS[gain]: gains[gain] for gain in range(GREATEST_GAIN + 1)}
        results = {
            data_counts.CONFLICTING: self.conflicting,
            data_counts.RESULTS: self.results,
            data_counts.UNLABELLED: gains[None],
            data_counts.UNIDENTIFIED: self.of_results.unidentified,
        }
        return {**self.data, **labels, **results, **self.records.by_name()}

    def add(self, record: CallSketch | RejectedRecord) -> None:
        """Count one record, usable or not.

        Raises:
          GoodGainError: the memory limit is exceeded.
        """
        if isinstance(record, CallSketch):
            self._add_call(record)
            return
        self.records.add_rejected(record)
        self.rejections.add(record)
        if record.conversation_id is not None:
            self._budget.count(_BYTES_KEPT_PER_RECORD + getsizeof(record.conversation_id))
            self.flagged.add(record.conversation_id)

    def settle(self) -> None:
        """Bring all counts up to date, when everything is added."""
        self._count_times()
        self.of_results.settle()

    def _add_call(self, call: CallSketch) -> None:
        ids = getsizeof(call.conversation_id) + getsizeof(call.record_id)
        self._budget.count(_BYTES_KEPT_PER_RECORD + ids)
        self.records.add_calls(1)
        self.conversations.add(call.conversation_id)
        self.turns.add((call.conversation_id, call.turn))
        self.iterations.add((call.conversation_id, call.turn, call.iteration))
        identity = (call.conversation_id, identity_of(call))
        is_first = identity not in self._counting
        self._add_delivery(identity, call.timestamp, call.record_digest)
        if call.timestamp is not None:
            self._times.append(call.timestamp)
            if len(self._times) == _TIMES_AT_ONCE:
                self._count_times()
        for name, value in call.attributes.items():
            name = name_to_count(self.attributes, name)
            self.attributes[name] += 1
            values = self.attribute_values.setdefault(name, set())
            if len(values) < _MOST_VALUES and value not in values and value.strip():
                self._budget.count(getsizeof(value))
                values.add(value)
        if is_first:
            self.empty_calls += not call.results
            self.results += len(call.results)
            self.of_results.add(call.results)

    def _add_delivery(self, identity: object, timestamp: int | None, digest: bytes) -> None:
        delivery = (BEFORE_ALL_TIME if timestamp is None else timestamp, digest)
        counting = self._counting.setdefault(identity, delivery)
        if counting is delivery:
            return
        self.redelivered += 1
        copies = self._copies.setdefault(identity, Counter([counting[1]]))
        self.conflicting -= copies.total() - copies[counting[1]]
        copies[digest] += 1
        if delivery > counting:
            counting = self._counting[identity] = delivery
        self.conflicting += copies.total() - copies[counting[1]]

    def _count_times(self) -> None:
        if not self._times:
            return
        self.timed += len(self._times)
        self.data.update(data_counts.times_counts(self._times, self._clock))
        first, last = min(self._times), max(self._times)
        if self.first_timestamp is not None and self.last_timestamp is not None:
            first, last = min(first, self.first_timestamp), max(last, self.last_timestamp)
        self.first_timestamp, self.last_timestamp = int(first), int(last)
        self._times.clear()

    def labels(self) -> dict[int | None, int]:
        """Number of results by gain, from 0 up, then of those without a label."""
        gains: list[int | None] = [*range(GREATEST_GAIN + 1), None]
        return {gain: self.of_results.gains[gain] for gain in gains}
