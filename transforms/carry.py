"""Carries small collections along with payloads through the same shuffle.

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

from goodgain.transforms.coders import typed_outputs
from goodgain.transforms.fingerprint import Keyed
from goodgain.transforms.gather import GatheredDoFn

_KEYS = 64  # so that workers share the elements
_BLANK = " "  # no conversation has a blank id


def load(
    payloads: beam.PCollection[Keyed], carried: Sequence[beam.PCollection[Any]]
) -> beam.PCollection[Keyed]:
    """Add the elements of other collections to payloads; `Unload` separates them again.

    Args:
      carried: bounded collections in the global window.
    """
    if not carried:
        return payloads
    loaded = [
        one | f"Load{at}" >> beam.Map(_keyed, at, _coder(one)).with_output_types(Keyed)
        for at, one in enumerate(carried)
    ]
    return [payloads, *loaded] | "Loaded" >> beam.Flatten()


@dataclass(eq=False, repr=False)
class Unload(beam.PTransform):
    """Grouped payloads to a tuple: the payloads of conversations, then each carried collection.

    Attributes:
      carried: the collections given to `load`.
      spill_folder: the same as for `GatherPayloads`.
    """

    carried: tuple[beam.PCollection[Any], ...]
    spill_folder: str

    def expand(self, gathered: beam.PCollection[Any]) -> tuple[beam.PCollection[Any], ...]:
        """Apply the transform."""
        if not self.carried:
            return (gathered,)
        tags = [str(at) for at in range(len(self.carried))]
        unload = _Unload(self.spill_folder, [_coder(one) for one in self.carried])
        types = {tag: one.element_type for tag, one in zip(tags, self.carried, strict=True)}
        return typed_outputs(gathered, "Separate", unload, payloads=gathered.element_type, **types)


@dataclass(eq=False, repr=False)
class _Unload(GatheredDoFn):
    coders: Sequence[beam.coders.Coder]

    def process(
        self, grouped: tuple[str, Iterable[bytes]]
    ) -> Iterator[tuple[str, Iterable[bytes]] | TaggedOutput]:
        key, gathered = grouped
        if not key.isspace():
            yield grouped
            return
        for loaded in self.payloads(gathered):
            yield TaggedOutput(str(loaded[0]), self.coders[loaded[0]].decode(loaded[1:]))


def _keyed(element: Any, at: int, coder: beam.coders.Coder) -> Keyed:
    encoded = bytes([at]) + coder.encode(element)
    return _BLANK * (1 + xxhash.xxh3_64_intdigest(encoded) % _KEYS), encoded


def _coder(collection: beam.PCollection[Any]) -> beam.coders.Coder:
    return beam.coders.registry.get_coder(collection.element_type)
