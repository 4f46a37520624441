"""What `goodgain validate` needs of a search call, without its texts (SPEC 2, 3).

Native code makes sketches straight from the bytes of files (`native/src/sketch.rs`); here they are
made of calls.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.files.record_packer import PackedBlock
from goodgain.transforms.core.files.shard import FileShard, Open
from goodgain.transforms.core.files.shard_reader import read_shard_into
from goodgain.transforms.core.records.record_encoding import record_digest, record_encoding
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.packers import native_packer
from goodgain.transforms.core.scoring.packing import Packing


class ResultSketch(Struct, frozen=True, array_like=True):
    """What is counted of a result. There are few different ones in many results.

    Attributes:
      entity_type: as written.
      codes: of its fingerprint.
      ids, fields: names.
    """

    entity_type: str | None
    gain: int | None
    has_score: bool
    codes: bytes
    ids: list[str]
    fields: list[str]


class CallSketch(Struct, frozen=True, array_like=True):
    """A search call without its texts.

    Attributes:
      record_digest: see `CallFingerprint`.
      results: each a `ResultSketch` in MessagePack.
    """

    conversation_id: str
    turn: int
    iteration: int
    call: int | None
    action: str
    record_id: str | None
    timestamp: int | None
    record_digest: bytes
    attributes: dict[str, str]
    results: list[bytes]


_encode_result = msgspec.msgpack.Encoder().encode
decode_result = msgspec.msgpack.Decoder(ResultSketch).decode
_decode_call = msgspec.msgpack.Decoder(CallSketch).decode


class Sketcher:
    """Reads sketches, in native code if it is there."""

    def __init__(self, rules: RuleTable, threads: int) -> None:
        self._fingerprinter = Fingerprinter(rules)
        self._packer = native_packer(Packing(rules, threads=threads), sketches=True)

    def of_shard(self, shard: FileShard, open_file: Open) -> Iterator[CallSketch | RejectedRecord]:
        """A sketch for each call of a shard, and the rejected rows, in file order."""
        for record in read_shard_into(self._packer, shard, open_file):
            if isinstance(record, PackedBlock):
                yield from (_decode_call(packed.payload) for packed in record.packed)
            else:
                yield record if isinstance(record, RejectedRecord) else self.of_call(record)

    def of_call(self, call: SearchCall) -> CallSketch:
        """The sketch of a call."""
        return CallSketch(
            conversation_id=call.conversation_id,
            turn=call.turn,
            iteration=call.iteration,
            call=call.call,
            action=call.action,
            record_id=call.record_id,
            timestamp=call.timestamp,
            record_digest=record_digest(record_encoding(call)),
            attributes=call.attributes,
            results=[_encode_result(self._of_result(result)) for result in call.results],
        )

    def _of_result(self, result: Result) -> ResultSketch:
        return ResultSketch(
            entity_type=result.entity_type,
            gain=result.gain,
            has_score=result.score is not None,
            codes=self._fingerprinter.result_fingerprint(result, {}).codes,
            ids=list(result.ids),
            fields=list(result.fields),
        )
