"""Leave the texts behind: search calls become small payloads, keyed by conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.native_packing import packer_for
from goodgain.transforms.core.scoring.packing import Packed, Packing

Keyed = tuple[str, bytes]  # conversation_id, payload


class FingerprintCalls(beam.PTransform):
    """`PCollection[SearchCall]` to `PCollection[tuple[str, bytes]]`: (conversation_id, payload).

    There may be `RejectedRecord`s among the calls; they flag their conversations (SPEC 3).
    Everything costly about a text (normalising, hashing) happens here, before the shuffle. The
    calls of one conversation that meet in a bundle travel as one payload. Works in the global
    window; a payload has the timestamp of its earliest call. Where files are to be scored and their
    records are not needed, `ReadPayloads` does the same without a step between.

    Attributes:
      packing: the arguments: the compiled rules for duplicates; whether each record carries its
        canonical encoding; the keys of labels from outside (`core.scoring.packing`).
    """

    def __init__(
        self,
        rules: RuleTable,
        keep_encodings: bool = True,
        label_keys: LabelKeys | None = None,
    ) -> None:
        super().__init__()
        self.packing = Packing(rules, keep_encodings, label_keys)

    def expand(self, records: beam.PCollection[Any]) -> beam.PCollection[Keyed]:
        """Apply the transform."""
        return records | "FingerprintBundle" >> beam.ParDo(
            FingerprintBundle(self.packing)
        ).with_output_types(Keyed)


class FingerprintBundle(beam.DoFn):
    """Fingerprints calls and joins those of one conversation while a bundle lasts."""

    def __init__(self, packing: Packing) -> None:
        self._packing = packing

    def setup(self) -> None:
        """Make what a worker needs once."""
        self._packer = packer_for(self._packing)

    def process(
        self, record: SearchCall | RejectedRecord, timestamp: Any = beam.DoFn.TimestampParam
    ) -> Iterator[WindowedValue]:
        """Add one record; emit the oldest payloads when the buffer is full."""
        return timestamped(self._packer.add(record, timestamp.micros))

    def finish_bundle(self) -> Iterator[WindowedValue]:
        """Emit one payload for each buffered conversation."""
        return timestamped(self._packer.rest())


def timestamped(packed: Iterable[Packed]) -> Iterator[WindowedValue]:
    """Payloads at the times of their earliest records, in microseconds, in the global window."""
    for one in packed:
        yield WindowedValue(
            (one.conversation_id, one.payload),
            Timestamp(micros=one.earliest),
            (GlobalWindow(),),
        )
