"""Gathers the payloads of each conversation, in memory or through files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO
from uuid import uuid4

import apache_beam as beam
from apache_beam.typehints import KV

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
