"""Fingerprints of results: all evidence as digests, without the texts (SPEC 4).

A fingerprint is two byte strings. `codes` lists the attributes: one byte for the entity type, then
one for each attribute, each followed by the eight bytes of its name's digest if the rules do not
know the name. `digests` holds eight bytes for each attribute in the same order. A byte with the KEY
bit is for the key of the preceding attribute, if key and value differ. The order of attributes is
fixed, so equal evidence gives equal bytes. Digests are seeded by the attribute, so equal texts of
different attributes have different digests. `evidence` decodes fingerprints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from msgspec import Struct
from msgspec.structs import astuple
from xxhash import xxh3_64_digest

from goodgain.transforms.core.dedup.keys import (
    TEXT_KEYS,
    id_key,
    ids_that_hide_the_generic_id,
    is_keyed_by_value,
)
from goodgain.transforms.core.dedup.normalise import (
    normal_bytes,
    normalise_id,
    normalise_time,
    normalise_url,
)
from goodgain.transforms.core.dedup.rules import (
    CONTENT,
    GENERIC_ID,
    KEY,
    NO_TYPE,
    SNIPPET,
    TITLE,
    UNKNOWN_FIELD,
    UNKNOWN_ID,
    UNKNOWN_TYPE,
    URL,
    URL_QUERY,
    RuleTable,
    digest,
)
from goodgain.transforms.core.records.record_encoding import record_digest, record_encoding
from goodgain.transforms.core.records.search_call import (
    OneOrMany,
    Result,
    SearchCall,
    canonical_encoding,
)

_MEMO_ENTRIES = 5_000
_LENGTH_BYTES = 4
_UTF8_BYTES = 4  # of a character at most
_IGNORED_FIELDS = frozenset(("title", "snippet", "content"))  # the top-level ones count (SPEC 2)

# xxh3 only adds its seed to short texts: with small seeds, `id1` of one attribute would collide
# with `id2` of another. These seeds are as far apart as any digests.
_SEEDS = tuple(int.from_bytes(digest(f"attribute {number}")) for number in range(KEY))

# Codes and digests of one attribute, including its name and key; both empty if it is absent.
_Part = tuple[bytes, bytes]
_ABSENT: _Part = (b"", b"")


class ResultFingerprint(Struct, frozen=True, array_like=True, gc=False):
    """A result's fingerprint, label and score: about 100 bytes."""

    codes: bytes
    digests: bytes
    gain: int | None
    score: float | None


class CallFingerprint(Struct, frozen=True, array_like=True, gc=False):
    """A search call with fingerprints in place of its results.

    Attributes:
      record_digest: 128 bits, a hash of the whole record (SPEC 3).
      encoding: the record's canonical encoding; None if not kept.
      names: the unknown names of types and ids, by the bytes of their numbers.
      costs: the costs of the call, by name.
    """

    turn: int
    iteration: int
    call: int | None
    timestamp: int | None
    record_id: str | None
    turn_count: int | None
    is_final: bool
    attributes: dict[str, str]
    record_digest: bytes
    encoding: bytes | None
    names: dict[bytes, str]
    results: list[ResultFingerprint]
    costs: dict[str, float] = {}


class _Memo(dict[str, _Part]):
    """Caches a function of strings; emptied when it has grown large."""

    def __init__(self, function: Callable[[str], _Part]) -> None:
        self._function = function

    def __missing__(self, key: str) -> _Part:
        if len(self) >= _MEMO_ENTRIES:
            self.clear()
        value = self[key] = self._function(key)
        return value


class _Type(Struct, frozen=True):
    """The codes of an entity type in a fingerprint, and which ids are definitive for it."""

    codes: bytes
    definitive: frozenset[str]
    unknown_name: str | None = None


class _Name(Struct, frozen=True):
    """A named id or field.

    Attributes:
      codes: its codes in a fingerprint.
      parts: maps a value to its part of the fingerprint.
    """

    number: int
    name: str
    codes: bytes
    parts: _Memo


# Name, parts and codes of each; a tuple is faster to take apart than a `_Name`.
_Order = list[tuple[str, _Memo, bytes]]


class Fingerprinter:
    """Turns search calls into fingerprints. Not thread-safe, since it has caches."""

    def __init__(self, rules: RuleTable) -> None:
        self._rules = rules
        self._types: dict[str | None, _Type] = {}
        self._id_orders: dict[tuple[str, ...], _Order] = {}
        self._field_orders: dict[tuple[str, ...], _Order] = {}
        self._id_names: dict[str, _Name] = {}
        self._field_names: dict[str, _Name] = {}
        self._generic = _Memo(_id_part(bytes((GENERIC_ID,)), _SEEDS[GENERIC_ID]))
        self._urls = _Memo(self._url_part)

    def call_fingerprint(
        self, call: SearchCall, keep_encoding: bool = False, encoded: bytes | None = None
    ) -> CallFingerprint:
        """Fingerprint a call and its results; optionally keep its canonical encoding.

        `encoded` is its `record_encoding`, if the caller has it already.
        """
        names: dict[bytes, str] = {}
        result_fingerprint = self.result_fingerprint
        return CallFingerprint(
            call.turn,
            call.iteration,
            call.call,
            None if call.timestamp is None else int(call.timestamp),
            call.record_id,
            call.turn_count,
            call.is_final,
            call.attributes,
            record_digest(encoded or record_encoding(call)),
            canonical_encoding(call) if keep_encoding else None,
            names,
            [result_fingerprint(result, names) for result in call.results],
            call.costs,
        )

    def result_fingerprint(self, result: Result, names: dict[bytes, str]) -> ResultFingerprint:
        """Fingerprint one result; adds unknown names of types and ids to `names`."""
        # Faster than reading the attributes one by one.
        entity_type, id_, ids, url, title, snippet, content, fields, gain, score, _ = astuple(result)
        type_ = self._types.get(entity_type) or self._remember_type(entity_type)
        if type_.unknown_name is not None:
            names[type_.codes] = type_.unknown_name
        parts = [(type_.codes, b"")]
        has_definitive = ids and self._add_ids(ids, type_.definitive, parts, names)
        if id_ is not None and not has_definitive:
            parts.append(self._generic[id_])
        if url is not None:
            parts.append(self._urls[url])
        if title is not None:
            parts.append(_title_part(title))
        if snippet is not None:
            parts.append(_snippet_part(snippet))
        if content is not None:
            parts.append(_content_part(content))
        if fields:
            self._add_fields(fields, parts)
        codes, digests = zip(*parts)
        return ResultFingerprint(b"".join(codes), b"".join(digests), gain, score)

    def _remember_type(self, written: str | None) -> _Type:
        """The type, known, unknown or absent."""
        if len(self._types) >= _MEMO_ENTRIES:
            self._types.clear()
        name = (written or "").strip()
        number = self._rules.type_numbers.get(name.casefold(), NO_TYPE)
        ids = ids_that_hide_the_generic_id(self._rules, number)
        if number or not name:
            type_ = _Type(bytes((number,)), ids)
        else:
            # Case does not matter.
            name = name.casefold()
            type_ = _Type(bytes((UNKNOWN_TYPE,)) + digest(name), ids, name)
        self._types[written] = type_
        return type_

    def _add_ids(
        self,
        ids: dict[str, OneOrMany],
        definitive: frozenset[str],
        parts: list[_Part],
        names: dict[bytes, str],
    ) -> bool:
        """Add the named ids that have a value, and return whether one of them is definitive."""
        has_definitive = False
        spelled = tuple(ids)
        order = self._id_orders.get(spelled)
        if order is None:
            order = _remember_order(spelled, spelled, self._id_orders, self._id_name)
        for name, parts_of, codes in order:
            value = ids[name]
            if type(value) is str:
                part = parts_of[value]
                parts.append(part)
                found = part is not _ABSENT
            else:
                several = set(map(parts_of.__getitem__, value))
                parts += sorted(several)
                found = several != {_ABSENT}
            if found:
                if name in definitive:
                    has_definitive = True
                elif len(codes) > 1:
                    names[codes] = name
        return has_definitive

    def _add_fields(self, fields: dict[str, OneOrMany], parts: list[_Part]) -> None:
        spelled = tuple(fields)
        order = self._field_orders.get(spelled)
        if order is None:
            used = tuple(name for name in spelled if name not in _IGNORED_FIELDS)
            order = _remember_order(spelled, used, self._field_orders, self._field_name)
        for name, parts_of, _ in order:
            value = fields[name]
            if type(value) is str:
                parts.append(parts_of[value])
            else:
                parts.append(_set_part(set(map(parts_of.__getitem__, value))))

    def _url_part(self, url: str) -> _Part:
        normal = normalise_url(url, self._rules.ignored_parameters)
        if normal is None:
            return _ABSENT
        codes = bytearray((URL,))
        digests = [xxh3_64_digest(f"{normal.host}\n{normal.path}".encode(), _SEEDS[URL])]
        if normal.query:
            codes.append(URL_QUERY)
            digests.append(xxh3_64_digest(_joined(chain(*normal.query)), _SEEDS[URL_QUERY]))
            parameters = self._rules.url_parameters
            for parameter in sorted({name for name, _ in normal.query if name in parameters}):
                number = parameters[parameter]
                values = sorted({value for name, value in normal.query if name == parameter})
                codes.append(number)
                digests.append(xxh3_64_digest(_joined(values), _SEEDS[number]))
        return bytes(codes), b"".join(digests)

    def _id_name(self, name: str) -> _Name:
        return _name(name, self._rules.ids, UNKNOWN_ID, self._id_names, _id_part)

    def _field_name(self, name: str) -> _Name:
        part_of = _time_part if name in self._rules.time_fields else _text_part
        return _name(name, self._rules.fields, UNKNOWN_FIELD, self._field_names, part_of)


def _remember_order(
    spelled: tuple[str, ...],
    used: tuple[str, ...],
    orders: dict[tuple[str, ...], _Order],
    name_of: Callable[[str], _Name],
) -> _Order:
    """The names in the order of their numbers, which is their order in a fingerprint."""
    if len(orders) >= _MEMO_ENTRIES:
        orders.clear()
    entries = sorted(map(name_of, used), key=lambda entry: entry.number)
    order = orders[spelled] = [(entry.name, entry.parts, entry.codes) for entry in entries]
    return order


def _name(
    name: str,
    numbers: dict[str, int],
    unknown: int,
    entries: dict[str, _Name],
    part_of: Callable[[bytes, int], Callable[[str], _Part]],
) -> _Name:
    """The cached entry of a name; digests of its values are seeded by its number or its digest."""
    if len(entries) >= _MEMO_ENTRIES:
        entries.clear()
    entry = entries.get(name)
    if entry is None:
        number = numbers.get(name, KEY)
        if number < KEY:
            codes = bytes((number,))
            seed = _SEEDS[number]
        else:
            codes = bytes((unknown,)) + digest(name)
            seed = int.from_bytes(codes[1:])
            number = int.from_bytes(codes)
        entry = entries[name] = _Name(number, name, codes, _Memo(part_of(codes, seed)))
    return entry


def _joined(texts: Iterable[str]) -> bytes:
    """Texts concatenated, each after its length, so that different lists give different bytes."""
    encoded = [text.encode() for text in texts]
    return b"".join([len(text).to_bytes(_LENGTH_BYTES) + text for text in encoded])


def _id_part(codes: bytes, seed: int) -> Callable[[str], _Part]:
    """An id, and its casefolded form as key if that differs."""
    key_code = bytes((codes[0] | KEY,))

    def part_of(raw: str) -> _Part:
        value = normalise_id(raw)
        if not value:
            return _ABSENT
        found = xxh3_64_digest(value.encode(), seed)
        key = id_key(value)
        if key == value:
            return codes, found
        return codes + key_code, found + xxh3_64_digest(key.encode(), seed)

    return part_of


def _text_part(codes: bytes, seed: int) -> Callable[[str], _Part]:
    def part_of(raw: str) -> _Part:
        text = normal_bytes(raw)
        return (codes, xxh3_64_digest(text, seed)) if text else _ABSENT

    return part_of


def _time_part(codes: bytes, seed: int) -> Callable[[str], _Part]:
    text_part = _text_part(codes, seed)

    def part_of(raw: str) -> _Part:
        instant = normalise_time(raw)
        if instant is None:
            return text_part(raw)
        # Ends in a space, so that a time never equals a normalised text.
        return codes, xxh3_64_digest(b"%d " % instant, seed)

    return part_of


def _keyed_text_part(attribute: int) -> Callable[[str], _Part]:
    """A text of a result, followed by its key if that differs."""
    key = TEXT_KEYS[attribute]
    prefix_length = key.prefix
    keyed_from = key.prefix + 1 if is_keyed_by_value(attribute) else key.least
    longest = max(prefix_length, keyed_from)
    alone, keyed = bytes((attribute,)), bytes((attribute, attribute | KEY))
    seed = _SEEDS[attribute]

    def part_of(raw: str) -> _Part:
        text = normal_bytes(raw)
        if not text:
            return _ABSENT
        found = xxh3_64_digest(text, seed)
        if text.isascii():
            if len(text) < keyed_from:
                return alone, found
            return keyed, found + xxh3_64_digest(text[:prefix_length], seed)
        characters = text[:_UTF8_BYTES * longest].decode(errors="ignore")
        if len(characters) < keyed_from:
            return alone, found
        return keyed, found + xxh3_64_digest(characters[:prefix_length].encode(), seed)

    return part_of


_title_part = _keyed_text_part(TITLE)
_snippet_part = _keyed_text_part(SNIPPET)
_content_part = _keyed_text_part(CONTENT)


def _set_part(members: set[_Part]) -> _Part:
    """One digest for a set of values; a set of one is its member (SPEC 4.1)."""
    members.discard(_ABSENT)
    if len(members) < 2:
        return next(iter(members), _ABSENT)
    codes = next(iter(members))[0]
    # Members are already seeded by their attribute; no attribute has seed 0.
    return codes, xxh3_64_digest(b"".join(sorted(found for _, found in members)), seed=0)
