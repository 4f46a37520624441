"""Packs records into payloads: the work on each record before the shuffle.

A record is reduced to a fingerprint without its texts, and nearby calls of one conversation share a
payload. It works for any source of records: a shard of a file (`shard_payloads`), a watched folder,
or messages of a topic.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, Fingerprinter
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.judgments.external_labels import ExternalLabels, document_digests
from goodgain.transforms.core.judgments.judgment import LabelKeys, LabelRequest, label_request
from goodgain.transforms.core.records.record_encoding import record_encoding
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.core.scoring.settings import Scoring

MOST_BUFFERED_RESULTS = 5_000  # about 10 MB for ordinary calls, at most 80 MB
_BYTES_PER_RESULT = 2**14  # bytes of a record that count as one result


class Packing(Struct, frozen=True):
    """How records are packed into payloads.

    Attributes:
      rules: the compiled rules for duplicates.
      keep_records: whether fingerprints keep their records, with all texts, as a pool needs them.
      label_keys: how external judgments are matched to results; None if there are none.
      threads: how many threads may read the blocks of one Avro file in native code, with the same
        results; 1 in streams, and on engines, which have workers for other cores.

    Example: see `ScorePayloads`.
    """

    rules: RuleTable
    keep_records: bool = False
    label_keys: LabelKeys | None = None
    threads: int = 1

    @classmethod
    def of(cls, scoring: Scoring, threads: int = 1) -> Packing:
        """The packing that conversations need to be scored so."""
        return cls(scoring.rules, scoring.pool is not None, scoring.name_keys, threads)


class Packed(Struct, frozen=True, gc=False):
    """Some records of one conversation.

    Attributes:
      payload: for `goodgain.transforms.core.scoring.payload.unpack`.
      calls: number of search calls in it.
      earliest: the smallest `at` of its records.
      label_request: the judgments that the calls need; None without `Packing.label_keys`.
    """

    conversation_id: str
    payload: bytes
    calls: int
    earliest: int
    label_request: LabelRequest | None = None


class Packer:
    """Fingerprints records and joins those of one conversation. Not thread-safe."""

    def __init__(self, packing: Packing) -> None:
        self._packing = packing
        self._fingerprinter = Fingerprinter(packing.rules)
        # The least recently seen conversation comes first.
        self._buffered: dict[str, _Buffered] = {}
        self._results = 0

    def add(self, record: SearchCall | RejectedRecord, at: int) -> Iterator[Packed]:
        """Add one record; if the buffer is full, yield the least recently seen conversations.

        A rejected record flags the conversation that it names (SPEC 3), if it names any.

        Args:
          at: its time, in any unit.
        """
        conversation_id = record.conversation_id
        if not conversation_id:  # a rejected record without a known conversation
            return iter(())
        buffered = self._buffered.pop(conversation_id, None) or _Buffered(at)
        self._buffered[conversation_id] = buffered
        buffered.earliest = min(buffered.earliest, at)
        if isinstance(record, SearchCall):
            encoded = record_encoding(record)
            fingerprints = self._fingerprinter.call_fingerprint(
                record, self._packing.keep_records, encoded
            )
            buffered.fingerprints.append(fingerprints)
            if self._packing.label_keys is not None:
                buffered.calls.append(record)
            size = 1 + len(record.results) + len(encoded) // _BYTES_PER_RESULT
        else:
            buffered.rejected_records += record.records
            size = 1 + len(conversation_id.encode()) // _BYTES_PER_RESULT
        buffered.size += size
        self._results += size
        full = self._results >= MOST_BUFFERED_RESULTS
        return self._pack_until(MOST_BUFFERED_RESULTS // 2) if full else iter(())

    def rest(self) -> Iterator[Packed]:
        """One payload for each conversation that is still buffered."""
        return self._pack_until(0)

    def _pack_until(self, kept_results: int) -> Iterator[Packed]:
        """Yield payloads until fewer than `kept_results` results are left."""
        while self._buffered and self._results >= kept_results:
            conversation_id = next(iter(self._buffered))
            buffered = self._buffered.pop(conversation_id)
            self._results -= buffered.size
            yield buffered.pack(conversation_id, self._packing)


class _Buffered(Struct):
    """The buffered records of one conversation.

    Holds fingerprints rather than calls, since so many objects would leave no room in the
    processor's cache; holds the calls, too, where they request external labels.
    """

    earliest: int
    fingerprints: list[CallFingerprint] = []
    calls: list[SearchCall] = []
    rejected_records: int = 0
    size: int = 0  # in results, of calls that need as much memory

    def pack(self, conversation_id: str, packing: Packing) -> Packed:
        keys, compress = packing.label_keys, packing.keep_records
        request = external = None
        if keys is not None and self.calls:
            request = label_request(
                conversation_id,
                self.calls,
                [fingerprint.record_digest for fingerprint in self.fingerprints],
                keys,
            )
            external = ExternalLabels(
                {
                    fingerprint.record_digest: document_digests(call, keys)
                    for fingerprint, call in zip(self.fingerprints, self.calls, strict=True)
                }
            )
        return Packed(
            conversation_id,
            payload(self.fingerprints, self.rejected_records, external, compress=compress),
            len(self.fingerprints),
            self.earliest,
            request,
        )
