"""Bring the payloads of a conversation together, in memory or by way of files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO
from uuid import uuid4

import apache_beam as beam

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.fingerprint import Keyed

_PLACE = Struct("<16sQI")  # a file's name, and where in it a payload begins and how long it is


class GatherPayloads(beam.PTransform):
    """`PCollection[tuple[str, bytes]]` grouped by key, for a `ReadsGathered`.

    Attributes:
      spill_folder: a folder on a disk that all workers share, for one file of each bundle; the
        engine then groups 28 bytes instead of each payload. Beam's local runner keeps what it
        groups in memory three times. Who gives the folder removes it after the run. Empty: the
        engine groups the payloads themselves.
    """

    def __init__(self, spill_folder: str = "") -> None:
        super().__init__()
        self.spill_folder = spill_folder

    def expand(self, payloads: beam.PCollection[Keyed]) -> beam.PCollection[Any]:
        """Apply the transform."""
        if self.spill_folder:
            payloads = payloads | "Spill" >> beam.ParDo(
                SpillPayloads(self.spill_folder)
            ).with_output_types(Keyed)
        return payloads | "Group" >> beam.GroupByKey()


class SpillPayloads(beam.DoFn):
    """Writes payloads to a file of the bundle, and gives the places where they are."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def start_bundle(self) -> None:
        """Begin another file, so that a bundle that is run again never mixes with the first."""
        self._open = ExitStack()
        self._file: BinaryIO | None = None

    def process(self, keyed: Keyed) -> Iterator[Keyed]:
        """The key and the place of one payload."""
        if self._file is None:
            self._name = uuid4()
            path = Path(self._folder, self._name.hex)
            self._file = self._open.enter_context(path.open("xb"))
        key, payload = keyed
        place = _PLACE.pack(self._name.bytes, self._file.tell(), len(payload))
        self._file.write(payload)
        yield key, place

    def finish_bundle(self) -> None:
        """Have everything in the file before anything of the bundle is read."""
        self._open.close()


class ReadsGathered(beam.DoFn):
    """A step behind `GatherPayloads`, with the same folder."""

    def __init__(self, spill_folder: str) -> None:
        self._folder = spill_folder
        self._files: dict[bytes, int] = {}

    def payloads(self, gathered: Iterable[bytes]) -> Iterable[bytes]:
        """The payloads of one key, each read when it is asked for.

        Raises:
          GoodGainError: while they are read, a file is shorter than it was written.
        """
        return map(self._read, gathered) if self._folder else gathered

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
                f"{self._path(name)} was cut short while the run needed it: run again when nothing "
                "else writes there."
            )
        return payload

    def _path(self, name: bytes) -> Path:
        return Path(self._folder, name.hex())
