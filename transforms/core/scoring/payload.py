"""Payloads: the encoded fingerprints of a conversation's calls, as they are sent between workers.

A payload is a sequence of frames, so payloads are joined by concatenation. A frame has four bytes
for its length, followed by its content in MessagePack; if the content is compressed with zstd, the
highest bit of the length is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
import zstandard
from msgspec import Struct
from msgspec.structs import fields, replace

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, ResultFingerprint
from goodgain.transforms.core.judgments.external_labels import ExternalLabels, merge_labels
from goodgain.transforms.core.judgments.result_labels import ResultLabel

_LENGTH_BYTES = 4
_COMPRESSED = 1 << 31
# Level 1 of zstd compresses 1.16 KB per result with text (calls of 20 results of the sample) to
# 0.44 KB, or to 0.29 KB if the calls of a conversation are joined, at a tenth of the cost of
# fingerprinting. Deflate takes three times as long, and a higher level gains 2 %. Frames without
# text hardly shrink, since digests do not compress.
_LEVEL = 1


class Frame(Struct, frozen=True):
    """The content of some payloads of one conversation.

    Attributes:
      calls: the fingerprints of its calls, possibly with repeated deliveries.
      rejected_records: number of records of the conversation that could not be used (SPEC 3).
      external: external judgments, or the keys to find them; None if there are none.
      labels: labels of single results, given separately from the traces.
      outcomes: outcomes given separately from the traces, by name.
    """

    calls: list[CallFingerprint]
    rejected_records: int = 0
    external: ExternalLabels | None = None
    labels: list[ResultLabel] = []
    outcomes: dict[str, float] = {}


# The fields of `ResultFingerprint` beside the evidence; a column of those that may be missing is
# None where no result has a value.
_FIELDS = fields(ResultFingerprint)[2:]
_COLUMNS = [(attrgetter(field.name), field.default is None) for field in _FIELDS]


class _PackedFrame(Struct, frozen=True, array_like=True):
    """An encoded frame, in which common parts of results are stored once.

    Attributes:
      shapes: the distinct `codes` of its results, each with the length of its digests in bytes.
      evidence: the distinct fingerprints, each as an index in `shapes`.
      digests: the `digests` of `evidence`, one after another.
      results: for each call, the columns of its results: the indexes in `evidence`, and `_FIELDS`.
      attributes: for each call, its attributes; None if they equal those of the call before it.
      calls: the calls without their attributes and results.
    """

    shapes: list[tuple[bytes, int]]
    evidence: list[int]
    digests: bytes
    results: list[tuple[Any, ...]]
    attributes: list[dict[str, str] | None]
    calls: list[CallFingerprint]
    rejected_records: int
    external: ExternalLabels | None
    labels: list[ResultLabel] = []


class _WithOutcomes(_PackedFrame, frozen=True, array_like=True):
    """An encoded frame to which outcomes are added; one without them is shorter."""

    outcomes: dict[str, float] = {}


class _NamedCall(Struct, frozen=True, array_like=True):
    """An encoded `CallFingerprint` of which only the record_id is decoded."""

    turn: msgspec.Raw
    iteration: msgspec.Raw
    call: msgspec.Raw
    timestamp: msgspec.Raw
    record_id: str | None


class _NamedCalls(Struct, frozen=True, array_like=True):
    """A packed frame of which only the record_ids of calls are decoded."""

    shapes: msgspec.Raw
    evidence: msgspec.Raw
    digests: msgspec.Raw
    results: msgspec.Raw
    attributes: msgspec.Raw
    calls: list[_NamedCall]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_WithOutcomes)
_decode_calls = msgspec.msgpack.Decoder(_NamedCalls).decode


def payload(
    calls: Sequence[CallFingerprint],
    rejected_records: int = 0,
    external: ExternalLabels | None = None,
    compress: bool = False,
    labels: Sequence[ResultLabel] = (),
    outcomes: Mapping[str, float] | None = None,
) -> bytes:
    """Pack the parts of a `Frame`, which are of one conversation.

    Args:
      compress: whether to compress, which pays off if fingerprints have records.
    """
    shapes: dict[tuple[bytes, int], int] = {}
    evidence: dict[tuple[int, bytes], int] = {}
    results = []
    for call in calls:
        indexes = []
        for result in call.results:
            shape = shapes.setdefault((result.codes, len(result.digests)), len(shapes))
            indexes.append(evidence.setdefault((shape, result.digests), len(evidence)))
        results.append((indexes, *_columns(call.results)))
    parts = (
        list(shapes),
        [shape for shape, _ in evidence],
        b"".join([digests for _, digests in evidence]),
        results,
        list(_attributes(calls)),
        [replace(call, attributes={}, results=[]) for call in calls],
        rejected_records,
        external,
        list(labels),
    )
    packed = _WithOutcomes(*parts, dict(outcomes)) if outcomes else _PackedFrame(*parts)
    frame = _encoder.encode(packed)
    whole = len(frame).to_bytes(_LENGTH_BYTES) + frame
    return compress_payload(whole) if compress else whole


def _columns(results: Sequence[ResultFingerprint]) -> Iterator[list[Any] | None]:
    """The columns of `_FIELDS`."""
    for value_of, may_be_missing in _COLUMNS:
        values = list(map(value_of, results))
        yield None if may_be_missing and values.count(None) == len(values) else values


def _attributes(calls: Iterable[CallFingerprint]) -> Iterator[dict[str, str] | None]:
    """The attributes of each call; None if they equal those of the call before it."""
    before = None
    for call in calls:
        pairs = list(call.attributes.items())  # their order counts too
        yield None if pairs == before else call.attributes
        before = pairs


def compress_payload(packed: bytes) -> bytes:
    """Compress a payload of one uncompressed frame."""
    frame = zstandard.compress(memoryview(packed)[_LENGTH_BYTES:], _LEVEL)
    return (len(frame) | _COMPRESSED).to_bytes(_LENGTH_BYTES) + frame


def unpack(payloads: Iterable[bytes]) -> Frame:
    """Merge some payloads of one conversation into one frame."""
    calls: list[CallFingerprint] = []
    rejected = 0
    external: list[ExternalLabels] = []
    labels: list[ResultLabel] = []
    outcomes: dict[str, float] = {}
    for packed in payloads:
        for frame in map(_decoder.decode, _frames(packed)):
            calls += _calls_of(frame)
            rejected += frame.rejected_records
            if frame.external is not None:
                external.append(frame.external)
            labels += frame.labels
            outcomes |= frame.outcomes
    return Frame(calls, rejected, merge_labels(external) if external else None, labels, outcomes)


def record_ids(payloads: Iterable[bytes]) -> Iterator[str]:
    """The distinct record_ids of the calls in payloads, decoded as they are asked for."""
    known: set[str] = set()
    for frame in chain.from_iterable(map(_frames, payloads)):
        for call in _decode_calls(frame).calls:
            if call.record_id is not None and call.record_id not in known:
                known.add(call.record_id)
                yield call.record_id


def _frames(packed: bytes) -> Iterator[bytes | memoryview]:
    start = 0
    while start < len(packed):
        length = int.from_bytes(packed[start : start + _LENGTH_BYTES])
        end = start + _LENGTH_BYTES + (length & ~_COMPRESSED)
        content = memoryview(packed)[start + _LENGTH_BYTES : end]
        yield zstandard.decompress(content) if length & _COMPRESSED else content
        start = end


def _calls_of(frame: _PackedFrame) -> Iterator[CallFingerprint]:
    codes: list[bytes] = []
    digests: list[bytes] = []
    start = 0
    for shape in frame.evidence:
        codes_of_shape, length = frame.shapes[shape]
        codes.append(codes_of_shape)
        digests.append(frame.digests[start : start + length])
        start += length
    attributes: dict[str, str] = {}
    for call, of_call, columns in zip(frame.calls, frame.attributes, frame.results, strict=True):
        attributes = attributes if of_call is None else of_call
        indexes, *values = columns
        missing = [None] * len(indexes)
        results = map(
            ResultFingerprint,
            map(codes.__getitem__, indexes),
            map(digests.__getitem__, indexes),
            *(column or missing for column in values),
        )
        yield replace(call, attributes=attributes, results=list(results))
