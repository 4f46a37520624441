"""Converts messages of a topic to payloads and rejected rows (SPEC 2, 3, 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam

from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.message import Message, parse_message
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.sources.streamed import (
    StreamedTraces,
    StreamPacker,
    stamped,
    streamed_traces,
)
from goodgain.transforms.times import millis_of

beam.coders.registry.register_coder(Message, StructCoder)


@dataclass(eq=False, repr=False)
class ParseMessages(beam.PTransform):
    """`PCollection[Message]` to `StreamedTraces`.

    The time of a call is the earlier of its own and its message's timestamp, that of a rejected
    record its message's.

    Attributes:
      adaptation: renamed fields and the like; None if records are as in SPEC 2.
    """

    rules: RuleTable
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS

    def expand(self, messages: beam.PCollection[Message]) -> StreamedTraces:
        """Apply the transform."""
        return streamed_traces(messages, _ParseBundle(self.rules, self.adaptation, self.bounds))


@dataclass(eq=False, repr=False)
class _ParseBundle(beam.DoFn):
    """Parses messages; packs those of one conversation in a bundle into one payload."""

    rules: RuleTable
    adaptation: Adaptation | None
    bounds: ReadBounds

    def setup(self) -> None:
        self._packer = StreamPacker(self.rules)

    def process(self, message: Message, timestamp: Any = beam.DoFn.TimestampParam) -> Iterator[Any]:
        latest = millis_of(timestamp)
        packer = self._packer.record_packer(None, latest)
        record = parse_message(message, self.adaptation, self.bounds, packer)
        return self._packer.add(stamped([record], None, latest))

    def finish_bundle(self) -> Iterator[Any]:
        return self._packer.rest()
