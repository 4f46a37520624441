"""Converts search calls to small payloads without texts, keyed by conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.packers import packer_for
from goodgain.transforms.core.scoring.packing import Packed, Packing

Keyed = tuple[str, bytes]  # conversation_id, payload


@dataclass(eq=False, repr=False)
class FingerprintCalls(beam.PTransform):
    """`PCollection[SearchCall]` to `PCollection[tuple[str, bytes]]`: (conversation_id, payload).

    `RejectedRecord`s among the calls flag their conversations. All expensive work on texts
    (normalising, hashing) happens here, before the shuffle. Calls of one conversation in the same
    bundle share a payload, which is in the global window and has the timestamp of its earliest
    call. If files are only scored, and their records are not needed, `ReadPayloads` reads and
    fingerprints them in one step.

    Attributes:
      packing: how records are packed into payloads.

    Example:
      >>> import apache_beam as beam
      >>> from apache_beam.runners.portability.fn_api_runner import FnApiRunner
      >>> from goodgain import FingerprintCalls, Packing, ScorePayloads, Scoring, SearchCall
      >>> scoring = Scoring.default(["ndcg@10"])
      >>> with beam.Pipeline(runner=FnApiRunner()) as pipeline:
      ...     calls = pipeline | beam.Create([SearchCall("c", 1)])
      ...     payloads = calls | FingerprintCalls(Packing.of(scoring))
      ...     scored = payloads | ScorePayloads(scoring)
      ...     _ = scored.scores | beam.Map(lambda score: print(score.conversation.N))
      1
    """

    packing: Packing

    def expand(self, records: beam.PCollection[Any]) -> beam.PCollection[Keyed]:
        """Apply the transform."""
        fingerprint = beam.ParDo(FingerprintBundle(self.packing)).with_output_types(Keyed)
        return records | "FingerprintBundle" >> fingerprint


@dataclass(eq=False, repr=False)
class FingerprintBundle(beam.DoFn):
    """Fingerprints calls, and joins those of one conversation that are in the same bundle."""

    packing: Packing

    def setup(self) -> None:
        """Set up the worker."""
        self._packer = packer_for(self.packing)

    def process(
        self, record: SearchCall | RejectedRecord, timestamp: Any = beam.DoFn.TimestampParam
    ) -> Iterator[WindowedValue]:
        """Add one record; emit the oldest payloads if the buffer is full."""
        return add_timestamps(self._packer.add(record, timestamp.micros))

    def finish_bundle(self) -> Iterator[WindowedValue]:
        """Emit one payload for each buffered conversation."""
        return add_timestamps(self._packer.rest())


def add_timestamps(packed: Iterable[Packed]) -> Iterator[WindowedValue]:
    """Payloads in the global window, with the timestamps of their earliest records."""
    for conversation in packed:
        yield WindowedValue(
            (conversation.conversation_id, conversation.payload),
            Timestamp(micros=conversation.earliest),
            (GlobalWindow(),),
        )
