"""Leave the texts behind: search calls become small payloads, keyed by conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import MAX_TIMESTAMP, Timestamp
from apache_beam.utils.windowed_value import WindowedValue
from msgspec.structs import replace

from transforms.core.delivery import tied
from transforms.core.external_labels import ExternalLabels, document_digests
from transforms.core.fingerprint import CallPrint, Fingerprinter
from transforms.core.judgments import LabelKeys
from transforms.core.payload import payload
from transforms.core.records import SearchCall, canonical_encoding
from transforms.core.rules import RuleTable

_MOST_BUFFERED_RESULTS = 5_000  # about 10 MB of calls


class FingerprintCalls(beam.PTransform):
    """`PCollection[SearchCall]` to `PCollection[tuple[str, bytes]]`: (conversation_id, payload).

    Everything costly about a text (normalising, hashing) happens here, before the shuffle. The
    calls of one conversation that meet in a bundle travel as one payload. Works in the global
    window; a payload has the timestamp of its earliest call.

    Attributes:
      rules: the compiled rules for duplicates (SPEC 4.3).
      keep_encodings: carry each record's canonical encoding, for the rare orders that only it
        decides (SPEC 3); costs as much as the texts. Otherwise only the records carry theirs that
        are tied with another one of the bundle.
      label_keys: by what results find labels from outside (`JoinQrels`); None where the labels of
        the traces count.
    """

    def __init__(
        self,
        rules: RuleTable,
        keep_encodings: bool = True,
        label_keys: LabelKeys | None = None,
    ) -> None:
        super().__init__()
        self.rules = rules
        self.keep_encodings = keep_encodings
        self.label_keys = label_keys

    def expand(self, calls: beam.PCollection[SearchCall]) -> beam.PCollection[tuple[str, bytes]]:
        """Apply the transform."""
        return calls | "FingerprintBundle" >> beam.ParDo(
            FingerprintBundle(self.rules, self.keep_encodings, self.label_keys)
        ).with_output_types(tuple[str, bytes])


class FingerprintBundle(beam.DoFn):
    """Fingerprints calls and joins those of one conversation while a bundle lasts."""

    def __init__(
        self, rules: RuleTable, keep_encodings: bool, label_keys: LabelKeys | None
    ) -> None:
        self._rules = rules
        self._keep_encodings = keep_encodings
        self._label_keys = label_keys

    def setup(self) -> None:
        """Make what a worker needs once."""
        self._fingerprinter = Fingerprinter(self._rules)
        self.start_bundle()

    def start_bundle(self) -> None:
        """Begin with nothing buffered."""
        self._calls: dict[str, list[SearchCall]] = {}
        self._prints: dict[str, list[CallPrint]] = {}
        self._documents: dict[str, dict[bytes, list[bytes]]] = {}
        self._results = 0
        self._earliest = MAX_TIMESTAMP

    def process(
        self, call: SearchCall, timestamp: Any = beam.DoFn.TimestampParam
    ) -> Iterator[WindowedValue]:
        """Buffer one call; give all that is buffered when that has become much."""
        self._earliest = min(self._earliest, timestamp)
        call_print = self._fingerprinter.call_print(call, self._keep_encodings)
        self._prints.setdefault(call.conversation_id, []).append(call_print)
        self._calls.setdefault(call.conversation_id, []).append(call)
        if self._label_keys is not None:
            documents = self._documents.setdefault(call.conversation_id, {})
            documents[call_print.record_digest] = document_digests(call, self._label_keys)
        self._results += 1 + len(call.results)  # a call without results takes room too
        return self.finish_bundle() if self._results >= _MOST_BUFFERED_RESULTS else iter(())

    def finish_bundle(self) -> Iterator[WindowedValue]:
        """Give one payload for each conversation seen."""
        prints, documents, earliest = self._prints, self._documents, self._earliest
        calls = self._calls
        self.start_bundle()
        for conversation_id, call_prints in prints.items():
            for place in tied(call_prints):
                encoding = canonical_encoding(calls[conversation_id][place])
                call_prints[place] = replace(call_prints[place], encoding=encoding)
            found = documents.get(conversation_id)
            packed = payload(call_prints, external=ExternalLabels(found) if found else None)
            yield _in_global_window((conversation_id, packed), earliest)


def _in_global_window(value: tuple[str, bytes], timestamp: Timestamp) -> WindowedValue:
    return WindowedValue(value, timestamp, (GlobalWindow(),))
