"""Small collections that go through the grouping of conversations, beside their payloads.

A step with several outputs is costly on Flink: each reader of one output is sent a copy of all of
them, so rejected records and counts would each cost another copy of all payloads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import xxhash
from apache_beam.pvalue import TaggedOutput

from goodgain.transforms.coders import apply_typed
from goodgain.transforms.fingerprint import Keyed

_KEYS = 64  # so that workers share the elements
_BLANK = " "  # no conversation has a blank id


@dataclass(frozen=True)
class ControlData:
    """Control data of a run, such as its counts, under keys of blanks.

    Attributes:
      collections: bounded collections in the global window.
    """

    collections: tuple[beam.PCollection[Any], ...]

    def add_to(self, payloads: beam.PCollection[Keyed]) -> beam.PCollection[Keyed]:
        """The payloads and, under keys of their own, the control data."""
        if not self.collections:
            return payloads
        keyed = [
            collection
            | f"Load{at}" >> beam.Map(_key_element, at, _coder(collection)).with_output_types(Keyed)
            for at, collection in enumerate(self.collections)
        ]
        return [payloads, *keyed] | "Loaded" >> beam.Flatten()

    def separate_from(self, grouped: beam.PCollection[Any]) -> tuple[beam.PCollection[Any], ...]:
        """The groups of payloads, then each collection of control data, unchanged."""
        if not self.collections:
            return (grouped,)
        tags = [str(at) for at in range(len(self.collections))]
        separate = _Separate([_coder(collection) for collection in self.collections])
        types = {
            tag: collection.element_type
            for tag, collection in zip(tags, self.collections, strict=True)
        }
        return apply_typed(grouped, "Separate", separate, payloads=grouped.element_type, **types)


@dataclass(eq=False, repr=False)
class _Separate(beam.DoFn):
    coders: Sequence[beam.coders.Coder]

    def process(
        self, grouped: tuple[str, Iterable[bytes]]
    ) -> Iterator[tuple[str, Iterable[bytes]] | TaggedOutput]:
        key, values = grouped
        if not key.isspace():
            yield grouped
            return
        for value in values:
            yield TaggedOutput(str(value[0]), self.coders[value[0]].decode(value[1:]))


def _key_element(element: Any, at: int, coder: beam.coders.Coder) -> Keyed:
    encoded = bytes([at]) + coder.encode(element)
    return _BLANK * (1 + xxhash.xxh3_64_intdigest(encoded) % _KEYS), encoded


def _coder(collection: beam.PCollection[Any]) -> beam.coders.Coder:
    return beam.coders.registry.get_coder(collection.element_type)
