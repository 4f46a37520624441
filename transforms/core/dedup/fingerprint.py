"""Fingerprints of results: all evidence as digests, without the texts (SPEC 4).

A fingerprint is two byte strings. `codes` lists the attributes: one byte for the entity type, then
one for each attribute, each followed by the eight bytes of its name's digest if the rules do not
know the name. `digests` holds eight bytes for each attribute in the same order. A byte with the KEY
bit is for the key of the preceding attribute, if key and value differ. The order of attributes is
fixed, so equal evidence gives equal bytes. Digests are seeded by the attribute, so equal texts of
different attributes have different digests. `evidence` decodes fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from msgspec import Struct
from msgspec.structs import astuple
from xxhash import xxh3_64_digest

from goodgain.transforms.core.dedup.attribute_names import AttributeNames
from goodgain.transforms.core.dedup.attribute_parts import (
    ABSENT,
    SEEDS,
    content_part,
    id_part,
    set_part,
    snippet_part,
    title_part,
)
from goodgain.transforms.core.dedup.keys import (
    ids_that_hide_the_generic_id,
)
from goodgain.transforms.core.dedup.memo import Memo
from goodgain.transforms.core.dedup.normalise import normalise_query, normalise_type
from goodgain.transforms.core.dedup.rules import (
    GENERIC_ID,
    GENERIC_ID_NAME,
    NO_TYPE,
    UNKNOWN_TYPE,
    RuleTable,
    digest,
)
from goodgain.transforms.core.dedup.url_part import UrlPart
from goodgain.transforms.core.records.record_encoding import record_digest, record_encoding
from goodgain.transforms.core.records.search_call import (
    SEARCH,
    OneOrMany,
    Result,
    SearchCall,
)


class ResultFingerprint(Struct, frozen=True, array_like=True, gc=False):
    """A result's fingerprint, label and score: about 100 bytes.

    Attributes:
      aspects: the distinct digests of its aspects, sorted and joined; None if not judged for them.
    """

    codes: bytes
    digests: bytes
    gain: int | None
    score: float | None
    aspects: bytes | None = None


class CallFingerprint(Struct, frozen=True, array_like=True, gc=False):
    """A record with fingerprints in place of its results.

    Attributes:
      record_digest: 128 bits, a hash of the whole record (SPEC 3).
      record: the whole record as `record_encoding` writes it; None if not kept.
      names: the unknown names of types and ids, by the bytes of their numbers.
      failed: whether it has an error that is not blank.
      query: digest of the query's normal form; None if it is empty, or the record no search.
    """

    turn: int
    iteration: int
    call: int | None
    timestamp: int | None
    record_id: str | None
    turn_count: int | None
    is_final: bool
    action: str
    attributes: dict[str, str]
    record_digest: bytes
    record: bytes | None
    names: dict[bytes, str]
    results: list[ResultFingerprint]
    costs: dict[str, float] = {}
    failed: bool = False
    query: bytes | None = None
    outcomes: dict[str, float] = {}
    tool: str | None = None


def aspect_digests(aspects: Iterable[str]) -> bytes:
    """The distinct eight-byte digests of aspects, sorted and joined."""
    return b"".join(sorted({xxh3_64_digest(aspect.encode()) for aspect in aspects}))


def _query_digest(call: SearchCall) -> bytes | None:
    if call.query is None or call.action != SEARCH:
        return None
    query = normalise_query(call.query)
    return xxh3_64_digest(query) if query else None


class _Type(Struct, frozen=True):
    """The codes of an entity type in a fingerprint, and which ids are definitive for it."""

    codes: bytes
    definitive: frozenset[str]
    unknown_name: str | None = None


class Fingerprinter:
    """Turns search calls into fingerprints. Not thread-safe, since it has caches."""

    def __init__(self, rules: RuleTable) -> None:
        self._rules = rules
        self._types = Memo(self._type)
        names = AttributeNames(rules)
        self._id_orders, self._field_orders = names.id_orders, names.field_orders
        stripped = rules.stripped.get(GENERIC_ID_NAME)
        self._generic = Memo(id_part(bytes((GENERIC_ID,)), SEEDS[GENERIC_ID], stripped))
        self._urls = Memo(UrlPart(rules).part_of)

    def call_fingerprint(
        self, call: SearchCall, keep_record: bool = False, encoded: bytes | None = None
    ) -> CallFingerprint:
        """Fingerprint a call and its results; optionally keep the record.

        `encoded` is its `record_encoding`, if the caller has it already.
        """
        names: dict[bytes, str] = {}
        encoded = encoded or record_encoding(call)
        result_fingerprint = self.result_fingerprint
        return CallFingerprint(
            call.turn,
            call.iteration,
            call.call,
            None if call.timestamp is None else int(call.timestamp),
            call.record_id,
            call.turn_count,
            call.is_final,
            call.action,
            call.attributes,
            record_digest(encoded),
            encoded if keep_record else None,
            names,
            [result_fingerprint(result, names) for result in call.results],
            call.costs,
            bool(call.error and call.error.strip()),
            _query_digest(call),
            call.outcomes,
            call.tool,
        )

    def result_fingerprint(self, result: Result, names: dict[bytes, str]) -> ResultFingerprint:
        """Fingerprint one result; adds unknown names of types and ids to `names`."""
        # Faster than reading the attributes one by one.
        entity_type, id_, ids, url, title, snippet, content, fields, gain, score, aspects, _ = (
            astuple(result)
        )
        type_ = self._types[entity_type]
        if type_.unknown_name is not None:
            names[type_.codes] = type_.unknown_name
        # Codes and digests in turn, which takes less time than a list of pairs.
        parts = [type_.codes, b""]
        has_definitive = ids and self._add_ids(ids, type_.definitive, parts, names)
        if id_ is not None and not has_definitive:
            parts += self._generic[id_]
        if url is not None:
            parts += self._urls[url]
        if title is not None:
            parts += title_part(title)
        if snippet is not None:
            parts += snippet_part(snippet)
        if content is not None:
            parts += content_part(content)
        if fields:
            self._add_fields(fields, parts)
        return ResultFingerprint(
            b"".join(parts[::2]),
            b"".join(parts[1::2]),
            gain,
            score,
            None if aspects is None else aspect_digests(aspects),
        )

    def _type(self, written: str | None) -> _Type:
        """The type, known, unknown or absent."""
        name = normalise_type(written or "")
        number = self._rules.type_numbers.get(name, NO_TYPE)
        ids = ids_that_hide_the_generic_id(self._rules, number)
        if number or not name:
            return _Type(bytes((number,)), ids)
        return _Type(bytes((UNKNOWN_TYPE,)) + digest(name), ids, name)

    def _add_ids(
        self,
        ids: dict[str, OneOrMany],
        definitive: frozenset[str],
        parts: list[bytes],
        names: dict[bytes, str],
    ) -> bool:
        """Add the named ids that have a value, and return whether one of them is definitive."""
        has_definitive = False
        for _, name, parts_of, codes in self._id_orders[tuple(ids)]:
            value = ids[name]
            if type(value) is str:
                part = parts_of[value]
                parts += part
                has_value = part is not ABSENT
            else:
                several = set(map(parts_of.__getitem__, value))
                parts += chain.from_iterable(sorted(several))
                has_value = several != {ABSENT}
            if has_value:
                if name in definitive:
                    has_definitive = True
                elif len(codes) > 1:
                    names[codes] = name
        return has_definitive

    def _add_fields(self, fields: dict[str, OneOrMany], parts: list[bytes]) -> None:
        for _, name, parts_of, _ in self._field_orders[tuple(fields)]:
            value = fields[name]
            if type(value) is str:
                parts += parts_of[value]
            else:
                parts += set_part(set(map(parts_of.__getitem__, value)))
