"""Leave the texts behind: search calls become small payloads, keyed by conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import MAX_TIMESTAMP, Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from transforms.core.fingerprint import CallPrint, Fingerprinter
from transforms.core.payload import payload
from transforms.core.records import SearchCall
from transforms.core.rules import RuleTable

_MOST_BUFFERED_RESULTS = 20_000  # about 3 MB of prints


class FingerprintCalls(beam.PTransform):
    """`PCollection[SearchCall]` to `PCollection[tuple[str, bytes]]`: (conversation_id, payload).

    Everything costly about a text (normalising, hashing) happens here, before the shuffle. The
    calls of one conversation that meet in a bundle travel as one payload. Works in the global
    window; a payload has the timestamp of its earliest call.

    Attributes:
      rules: the compiled rules for duplicates (SPEC 4.3).
      keep_encodings: also carry each record's canonical encoding, for the rare orders that only
        it decides (SPEC 3); costs as much as the texts.
    """

    def __init__(self, rules: RuleTable, keep_encodings: bool = True) -> None:
        super().__init__()
        self.rules = rules
        self.keep_encodings = keep_encodings

    def expand(self, calls: beam.PCollection[SearchCall]) -> beam.PCollection[tuple[str, bytes]]:
        """Apply the transform."""
        return calls | "FingerprintBundle" >> beam.ParDo(
            FingerprintBundle(self.rules, self.keep_encodings)
        ).with_output_types(tuple[str, bytes])


class FingerprintBundle(beam.DoFn):
    """Fingerprints calls and joins those of one conversation while a bundle lasts."""

    def __init__(self, rules: RuleTable, keep_encodings: bool) -> None:
        self._rules = rules
        self._keep_encodings = keep_encodings

    def setup(self) -> None:
        """Make what a worker needs once."""
        self._fingerprinter = Fingerprinter(self._rules)
        self.start_bundle()

    def start_bundle(self) -> None:
        """Begin with nothing buffered."""
        self._prints: dict[str, list[CallPrint]] = {}
        self._results = 0
        self._earliest = MAX_TIMESTAMP

    def process(
        self, call: SearchCall, timestamp: Any = beam.DoFn.TimestampParam
    ) -> Iterator[WindowedValue]:
        """Buffer one call; give all that is buffered when that has become much."""
        self._earliest = min(self._earliest, timestamp)
        call_print = self._fingerprinter.call_print(call, self._keep_encodings)
        self._prints.setdefault(call.conversation_id, []).append(call_print)
        self._results += len(call.results)
        return self.finish_bundle() if self._results >= _MOST_BUFFERED_RESULTS else iter(())

    def finish_bundle(self) -> Iterator[WindowedValue]:
        """Give one payload for each conversation seen."""
        prints, earliest = self._prints, self._earliest
        self.start_bundle()
        for conversation_id, call_prints in prints.items():
            yield _in_global_window((conversation_id, payload(call_prints)), earliest)


def _in_global_window(value: tuple[str, bytes], timestamp: Timestamp) -> WindowedValue:
    return WindowedValue(value, timestamp, (GlobalWindow(),))
