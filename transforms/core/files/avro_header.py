"""Reads the header of an Avro object container file."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

from msgspec import Struct

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.avro_codecs import CODECS
from goodgain.transforms.core.files.varint import read_zigzag, write_zigzag

MAGIC = b"Obj\x01"
SYNC_BYTES = 16
# A schema with a thousand fields takes a tenth of this.
_LONGEST = 1024 * 1024


class HeaderError(GoodGainError):
    """A file header that cannot be used; the message is a sentence."""


class Header(Struct, frozen=True):
    """The header of a file: writer's schema, codec, sync marker, and offset of the first block."""

    schema: Any
    codec: str
    sync: bytes
    first_block: int


def read_header(file: BinaryIO) -> Header:
    """Read the header at the beginning of a file.

    Raises:
      HeaderError: it is damaged, too long, or has a codec that is not supported.
    """
    file.seek(0)
    raw = file.read(_LONGEST)
    try:
        metadata, end = _metadata(raw)
        codec = metadata.get("avro.codec", b"null").decode()
        schema = json.loads(metadata["avro.schema"])
    except RecursionError:
        raise HeaderError("The Avro schema is nested too deeply.") from None
    except IndexError:
        problem = "it does not end within 1 MiB" if len(raw) == _LONGEST else "it is truncated"
        raise HeaderError(f"The header of the Avro file is damaged ({problem}).") from None
    except KeyError:
        raise HeaderError("The header of the Avro file is damaged (it has no schema).") from None
    except ValueError as error:
        raise HeaderError(f"The header of the Avro file is damaged ({error}).") from None
    if codec not in CODECS:
        known = ", ".join(sorted(CODECS))
        raise HeaderError(f"The Avro codec {codec!r} is not supported; use one of {known}.")
    return Header(schema, codec, raw[end : end + SYNC_BYTES], end + SYNC_BYTES)


def header_of(schema: Any, sync: bytes) -> bytes:
    """An Avro file without blocks, uncompressed, that has the given marker."""
    text = json.dumps(schema).encode()
    entries = ((b"avro.schema", text), (b"avro.codec", b"null"))
    written = b"".join(write_zigzag(len(part)) + part for entry in entries for part in entry)
    return MAGIC + write_zigzag(len(entries)) + written + write_zigzag(0) + sync


def _metadata(raw: bytes) -> tuple[dict[str, bytes], int]:
    """The metadata, and the position after it."""
    if raw[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin with Obj")
    metadata = {}
    count, at = read_zigzag(raw, len(MAGIC))
    while count:
        if count < 0:
            _, at = read_zigzag(raw, at)
        for _ in range(abs(count)):
            key, at = _bytes(raw, at)
            metadata[key.decode()], at = _bytes(raw, at)
        count, at = read_zigzag(raw, at)
    raw[at + SYNC_BYTES - 1]  # IndexError if the marker is incomplete
    return metadata, at


def _bytes(raw: bytes, at: int) -> tuple[bytes, int]:
    size, at = read_zigzag(raw, at)
    if size < 0:
        raise ValueError("a length is negative")
    if at + size > len(raw):
        raise IndexError
    return raw[at : at + size], at + size
