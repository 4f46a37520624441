"""A whole record as bytes, and its digest (SPEC 3)."""

from __future__ import annotations

from typing import cast

import msgspec
import xxhash

from goodgain.transforms.core.records.search_call import SearchCall, canonical_encoding

# A whole record as bytes that are equal only for equal records; faster than JSON.
record_encoding = msgspec.msgpack.Encoder(order="deterministic", enc_hook=int).encode
record_digest = xxhash.xxh3_128_digest  # 128 bits, a hash of a record's encoding (SPEC 3)


def canonical_encoding_of(encoded: bytes) -> bytes:
    """The canonical encoding of a call, from its `record_encoding`."""
    # Every number as it was written: an integer as score too, which a caller may have given.
    return canonical_encoding(cast(SearchCall, msgspec.msgpack.decode(encoded)))
