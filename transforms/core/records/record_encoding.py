"""A whole record as bytes, and its digest (SPEC 3)."""

from __future__ import annotations

import msgspec
import xxhash

from goodgain.transforms.core.records.search_call import SearchCall, timestamp_hook

# The record with its defaults in MessagePack: a map by field name, all keys sorted, so that only
# equal records have equal bytes.
record_encoding = msgspec.msgpack.Encoder(order="sorted", enc_hook=int).encode
record_digest = xxhash.xxh3_128_digest  # of a record's encoding: orders and identifies records
decode_record = msgspec.msgpack.Decoder(SearchCall, dec_hook=timestamp_hook).decode
