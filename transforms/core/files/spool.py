"""Groups items by key without holding all of them in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, Generic, TypeVar

import msgspec
import xxhash

_LENGTH_BYTES = 4
_Item = TypeVar("_Item", bound=msgspec.Struct)
_encode = msgspec.msgpack.Encoder().encode


class Spool(Generic[_Item]):
    """Items on disk, partitioned by key; one partition is in memory at a time."""

    def __init__(self, parts: int, item_type: type[_Item]) -> None:
        """Open `parts` temporary files, among which keys are divided."""
        self._decode = msgspec.msgpack.Decoder(tuple[str, item_type]).decode  # type: ignore[valid-type]
        self._stack = ExitStack()
        self._files: list[IO[bytes]] = []
        for _ in range(parts):
            file = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the stack)
            self._files.append(self._stack.enter_context(file))

    def __enter__(self) -> Spool[_Item]:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, key: str, item: _Item) -> None:
        """Store an item."""
        part = xxhash.xxh3_64_intdigest(key.encode(errors="surrogatepass")) % len(self._files)
        packed = _encode((key, item))
        self._files[part].write(len(packed).to_bytes(_LENGTH_BYTES) + packed)

    def groups(self) -> Iterator[tuple[str, list[_Item]]]:
        """Every key with its items in order of arrival; keys are sorted within each partition."""
        for file in self._files:
            gathered: dict[str, list[_Item]] = {}
            file.seek(0)
            while length := file.read(_LENGTH_BYTES):
                key, item = self._decode(file.read(int.from_bytes(length)))
                gathered.setdefault(key, []).append(item)
            yield from sorted(gathered.items())
