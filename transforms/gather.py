"""Gathers the payloads of each conversation, in memory or through files.

Small collections are carried along through the same shuffle. A step with several outputs is costly
on Flink: each reader of one output is sent a copy of all of them, so rejected records and counts
would each cost another copy of all payloads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO
from uuid import uuid4

import apache_beam as beam
import xxhash
from apache_beam.pvalue import TaggedOutput
from apache_beam.typehints import KV

from goodgain.transforms.coders import typed_outputs
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.fingerprint import Keyed

Pair = tuple[bytes, bytes]
_PLACE = Struct("<16sQI")  # file name, offset and length of a payload


def flatten_pairs(label: str, *sides: beam.PCollection[Pair]) -> beam.PCollection[Any]:
    """Flatten the sides of a join, whose values begin with a byte that tells the sides apart."""
    for side in sides:
        side.element_type = KV[bytes, bytes]
    return sides | label >> beam.Flatten()


@dataclass(eq=False, repr=False)
class GatherPayloads(beam.PTransform):
    """Groups `PCollection[tuple[str, bytes]]` by key, for a subclass of `GatheredDoFn`.

    Attributes:
      spill_folder: a folder on a disk that all workers share, for one file per bundle. The engine
        then groups 28 bytes per payload; Beam's local runner keeps three copies of grouped data in
        memory. The caller removes the folder after the run. Empty: the engine groups the payloads
        themselves.
    """

    spill_folder: str = ""

    def expand(self, payloads: beam.PCollection[Keyed]) -> beam.PCollection[Any]:
        """Apply the transform."""
        if self.spill_folder:
            payloads = payloads | "Spill" >> beam.ParDo(
                SpillPayloads(self.spill_folder)
            ).with_output_types(Keyed)
        return payloads | "Group" >> beam.GroupByKey()


@dataclass(eq=False, repr=False)
class SpillPayloads(beam.DoFn):
    """Writes payloads to one file per bundle and returns their positions."""

    folder: str

    def start_bundle(self) -> None:
        """Begin a new file, so that a retried bundle never mixes with its first attempt."""
        self._open = ExitStack()
        self._file: BinaryIO | None = None

    def process(self, keyed: Keyed) -> Iterator[Keyed]:
        """Write one payload; return its key and position."""
        if self._file is None:
            self._name = uuid4()
            path = Path(self.folder, self._name.hex)
            self._file = self._open.enter_context(path.open("xb"))
        key, payload = keyed
        place = _PLACE.pack(self._name.bytes, self._file.tell(), len(payload))
        self._file.write(payload)
        yield key, place

    def finish_bundle(self) -> None:
        """Flush the file before anything of the bundle is read."""
        self._open.close()


@dataclass(eq=False, repr=False)
class GatheredDoFn(beam.DoFn):
    """Base class for steps that follow `GatherPayloads`, with the same folder."""

    spill_folder: str

    def __post_init__(self) -> None:
        self._files: dict[bytes, int] = {}

    def payloads(self, gathered: Iterable[bytes]) -> Iterable[bytes]:
        """The payloads of one key, read lazily.

        Raises:
          GoodGainError: during iteration, if a file was truncated.
        """
        return map(self._read, gathered) if self.spill_folder else gathered

    def teardown(self) -> None:
        """Close the files."""
        while self._files:
            os.close(self._files.popitem()[1])

    def _read(self, place: bytes) -> bytes:
        name, begin, length = _PLACE.unpack(place)
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = os.open(self._path(name), os.O_RDONLY)
        payload = os.pread(file, length, begin)
        if len(payload) < length:
            raise GoodGainError(
                f"{self._path(name)} was truncated during the run: run again when nothing else "
                "writes there."
            )
        return payload

    def _path(self, name: bytes) -> Path:
        return Path(self.spill_folder, name.hex())


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
