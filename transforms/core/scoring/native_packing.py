"""Packs records into payloads in native code: the same payloads as from `packing`, but faster.

Anything else comes back to Python here: single strings that are not plain, so that only Python
needs tables of characters, and records that need coercion.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import astuple

from goodgain.transforms.core.files.avro_plan import AvroPlan
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.files.json_value_count import HARMLESS
from goodgain.transforms.core.files.record_packer import (
    BlockToPack,
    LeftOut,
    PackedBlock,
    ReadRecord,
    RecordOrPacked,
    Stop,
    order_output,
)
from goodgain.transforms.core.judgments.judgment import LabelRequest
from goodgain.transforms.core.option import differs_beside
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.compiled_names import CompiledNames, compile_names
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall, timestamp_hook
from goodgain.transforms.core.scoring import packing as in_python
from goodgain.transforms.core.scoring.native_fallback import Fallback
from goodgain.transforms.core.scoring.native_rules import describe_packing_rules
from goodgain.transforms.core.scoring.packing import Packed, Packing
from goodgain.transforms.core.scoring.payload import compress_payload

# The bounds that native code heeds, or that are not for single records.
_BOUNDS = ("max_decoded_bytes", "max_record_results", "max_rejected_rows", "remedy")

# Each thread works on so many blocks while as many wait (`TOGETHER` in native/src/blocks.rs), and
# the calling thread takes as many.
_TOGETHER = 8

# Maps keep their order, as in a payload from Python.
_encode = msgspec.msgpack.Encoder(enc_hook=int).encode
_decode_records = msgspec.msgpack.Decoder(dict[str, SearchCall], dec_hook=timestamp_hook).decode

# Document names, encoded records by digest, results without a name.
_NativeAsked = tuple[list[str], bytes, int]
# Conversation, payload, number of calls, earliest time, requested judgments.
_NativePacked = list[tuple[str, bytes, int, int, _NativeAsked | None]]
_Names = tuple[CompiledNames | None, Any | None]


def _limits(bounds: ReadBounds) -> tuple[int, int]:
    """Most bytes and most results of a record that native code reads."""
    return min(bounds.max_decoded_bytes, HARMLESS), bounds.max_record_results


class NativePacker:
    """Like `Packer`; as a `RecordPacker` it also packs records without making objects.

    Args:
      sketches: give a `CallSketch` in MessagePack for each call, in order, instead of payloads.
      all_but: give nothing but its conversation for each call, and leave the calls of these
        conversations, and what Python has to parse, to the caller.

    Attributes:
      from_python: number of search calls that Python had to parse or decode first.
      clip: in a stream, bounds of the times of records from bytes, in milliseconds: each record is
        at its own timestamp, clipped to them; None in batch, where records have no times.
    """

    clip: tuple[int, int] | None = None

    def __init__(
        self,
        packing: Packing,
        native: Any,
        *,
        sketches: bool = False,
        all_but: Collection[str] | None = None,
    ) -> None:
        self._native = native
        self._leaves_calls = all_but is not None
        self._packing = packing
        self._adaptation: Adaptation | None = None
        self._compiled, self._names = self._compile(None)
        self.from_python = 0
        self.most_ahead = _TOGETHER * (2 * packing.threads + 1) if packing.threads > 1 else 0
        self._packer = native.Packer(
            describe_packing_rules(packing.rules),
            Fallback(packing.rules),
            packing.keep_records,
            None if packing.label_keys is None else astuple(packing.label_keys),
            in_python.MOST_BUFFERED_RESULTS,
            packing.threads,
            (sketches, None if all_but is None else list(all_but)),
        )

    def add(self, record: SearchCall | RejectedRecord, at: int) -> Iterator[Packed]:
        """See `Packer.add`."""
        if isinstance(record, SearchCall):
            self.from_python += 1
            return self._unpack(self._packer.add(_encode(record), at))
        if not record.conversation_id:
            return iter(())
        packed = self._packer.add_rejected(record.conversation_id, record.records, at)
        return self._unpack(packed)

    def rest(self) -> Iterator[Packed]:
        """See `Packer.rest`."""
        return self._unpack(self._packer.rest())

    def can_read(self, adaptation: Adaptation | None, bounds: ReadBounds) -> bool:
        """Whether native code can read records with such names, and knows all of these bounds."""
        return self._names_of(adaptation)[1] is not None and not differs_beside(bounds, _BOUNDS)

    def _names_of(self, adaptation: Adaptation | None) -> _Names:
        if adaptation != self._adaptation:
            self._adaptation = adaptation
            self._compiled, self._names = self._compile(adaptation)
        return self._compiled, self._names

    def _compile(self, adaptation: Adaptation | None) -> _Names:
        compiled = compile_names(adaptation)
        return compiled, compiled and self._native.CompiledNames(*astuple(compiled))

    def prepare(self, plan: AvroPlan, adaptation: Adaptation | None) -> Any | None:
        """Convert a plan for native code; None if it would leave the records to Python."""
        compiled, names = self._names_of(adaptation)
        if compiled is None or compiled.leaves_to_python(*plan.names(compiled.results)):
            return None
        return self._native.Plan(plan.types, plan.top, plan.scale, plan.most_results, names)

    def pack_block(
        self, prepared: Any, content: bytes, count: int, read: ReadRecord
    ) -> list[RecordOrPacked] | None:
        """Pack the records of a block; the oldest payloads are returned if the buffer is full.

        None if the block does not fit its schema, or has bytes that are not UTF-8.
        """
        left_out: LeftOut = []
        encoded = self._encoder(read, left_out)
        taken = self._packer.add_block(prepared, content, count, encoded, self.clip)
        if taken is None:
            return None
        packed, timestamps = taken
        return order_output(list(self._unpack(packed)), timestamps, left_out)

    def pack_blocks(
        self, prepared: Any, codec: str, blocks: Sequence[BlockToPack], most: int
    ) -> Iterator[list[RecordOrPacked]]:
        """Pack blocks by several threads, up to the first that native code cannot pack."""
        left_out: list[LeftOut] = [[] for _ in blocks]
        to_add = [
            (data, count, self._encoder(read, of_block))
            for (data, count, read), of_block in zip(blocks, left_out, strict=True)
        ]
        done = 0
        while done < len(blocks):
            packed, error = self._packer.add_blocks(prepared, codec, to_add[done:], most)
            for of_block in packed:
                yield order_output(list(self._unpack(of_block)), [], left_out[done])
                done += 1
            if error is not None:
                raise error
            # Going on costs what was packed behind the block that it stopped at.
            if len(packed) <= self.most_ahead:
                return

    def _encoder(self, read: ReadRecord, left_out: LeftOut) -> Callable[[int, bytes], bytes | None]:
        """What native code calls for a record that Python must read."""

        def encode(index: int, data: bytes) -> bytes | None:
            record = read(index, data)
            is_packed = isinstance(record, SearchCall) and (
                self.clip is None or record.timestamp is not None
            )
            if is_packed and not self._leaves_calls:
                self.from_python += 1
                return _encode(record)
            left_out.append((index - len(left_out), record))
            return None

        return encode

    def pack_lines(
        self, lines: bytes, begin: int, bounds: ReadBounds, adaptation: Adaptation | None
    ) -> tuple[PackedBlock | None, int | None]:
        """Pack lines of JSON up to the first that Python must read."""
        _, names = self._names_of(adaptation)
        *added, odd = self._packer.add_lines(lines, begin, _limits(bounds), names, self.clip)
        return self._block(*added), odd

    def pack_elements(
        self, array: bytes, begin: int, bounds: ReadBounds, adaptation: Adaptation | None
    ) -> tuple[PackedBlock | None, Stop]:
        """Pack some elements of a JSON array, at most up to the first that Python must read."""
        _, names = self._names_of(adaptation)
        *added, stop = self._packer.add_elements(array, begin, _limits(bounds), names, self.clip)
        return self._block(*added), Stop(*stop)

    def prepare_rows(self, columns: Any, count: int, adaptation: Adaptation | None) -> Any:
        """Convert rows for native code; None if it cannot read them."""
        try:
            return self._native.Rows(columns, count, self._names_of(adaptation)[1])
        except ValueError:  # a struct with repeated field names, or nested too deeply
            return None

    def pack_rows(
        self, prepared: Any, begin: int, most_results: int
    ) -> tuple[PackedBlock | None, int | None]:
        """Pack rows up to the first that Python must read."""
        *added, odd = self._packer.add_rows(prepared, begin, most_results, self.clip)
        return self._block(*added), odd

    def _block(self, packed: _NativePacked, timestamps: list[int]) -> PackedBlock | None:
        found = list(self._unpack(packed))
        return PackedBlock(found, timestamps) if found or timestamps else None

    def _unpack(self, packed: _NativePacked) -> Iterator[Packed]:
        for conversation_id, payload, calls, earliest, requested in packed:
            small = compress_payload(payload) if self._packing.keep_records else payload
            request, keys = None, self._packing.label_keys
            if requested is not None and keys is not None:
                documents, records, without_name = requested
                request = LabelRequest(
                    conversation_id,
                    documents,
                    keys.qrels_topic,
                    _decode_records(records),
                    without_name,
                )
            yield Packed(conversation_id, small, calls, earliest, request)
