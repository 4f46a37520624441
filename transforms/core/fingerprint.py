"""From a result to its fingerprint: all evidence as digests, the texts left behind (SPEC 4).

A fingerprint is two byte strings. `codes` holds one byte for the entity type and then one for each
attribute; `digests` holds eight bytes for each of them in the same order (none for a type that the
rules know or that is absent, sixteen for a name that the rules don't know: the name, the value).
A byte with the KEY bit gives the key of the attribute before it, where that is not its value.
Attributes stand in a fixed order, so equal evidence gives equal bytes. `evidence` reads them back.
"""

from __future__ import annotations

from collections.abc import Callable

import xxhash
from msgspec import Struct

from transforms.core.normalise import (
    normalise_id,
    normalise_text,
    normalise_time,
    normalise_url,
)
from transforms.core.records import OneOrMany, Result, SearchCall, canonical_encoding
from transforms.core.rules import (
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
    unknown_number,
)

_LEAST_KEYED = 50  # a shorter snippet or content proposes no candidates (SPEC 4.2)
_TITLE_PREFIX = 100
_SNIPPET_PREFIX = 100
_CONTENT_PREFIX = 500
_MEMO_ENTRIES = 20_000
_IGNORED_FIELDS = frozenset(("title", "snippet", "content"))  # the top-level ones count (SPEC 2)


class ResultPrint(Struct, frozen=True, array_like=True, gc=False):
    """What is left of a result after fingerprinting: about 100 bytes."""

    codes: bytes
    digests: bytes
    gain: int | None
    score: float | None


class CallPrint(Struct, frozen=True, array_like=True, gc=False):
    """What is left of a search call after fingerprinting.

    Attributes:
      encoding_digest: 128 bits of the record's canonical encoding (SPEC 3).
      encoding: the canonical encoding itself, or None where it was left behind.
      names: the unknown type and id names that occur, by the bytes of their numbers.
    """

    turn: int
    iteration: int
    call: int | None
    timestamp: int | None
    record_id: str | None
    turn_count: int | None
    is_final: bool
    attributes: dict[str, str]
    encoding_digest: bytes
    encoding: bytes | None
    names: dict[bytes, str]
    results: list[ResultPrint]


class _Memo(dict[str, bytes]):
    """Remembers what a function gave for recent strings; forgets all when it has grown large."""

    def __init__(self, function: Callable[[str], bytes]) -> None:
        self._function = function

    def __missing__(self, key: str) -> bytes:
        if len(self) >= _MEMO_ENTRIES:
            self.clear()
        value = self[key] = self._function(key)
        return value


class Fingerprinter:
    """Turns search calls into prints. Holds memos, so one serves one thread."""

    def __init__(self, rules: RuleTable) -> None:
        self._rules = rules
        self._names = _Memo(digest)
        self._texts = _Memo(_text_digest)
        self._times = _Memo(_time_digest)
        self._ids = _Memo(_id_digests)
        self._definitive = {
            index + 1: frozenset(
                name for name, number in rules.ids.items() if number in entry.definitive
            )
            for index, entry in enumerate(rules.types)
        }
        self._default_definitive = frozenset(
            name for name, number in rules.ids.items() if number in rules.default.definitive
        )
        self._field_orders: dict[tuple[str, ...], list[tuple[str, bytes, bytes, _Memo]]] = {}

    def call_print(self, call: SearchCall, keep_encoding: bool = False) -> CallPrint:
        """Fingerprint a call and its results; keep its canonical encoding when asked to."""
        encoding = canonical_encoding(call)
        names: dict[bytes, str] = {}
        result_print = self.result_print
        return CallPrint(
            call.turn,
            call.iteration,
            call.call,
            None if call.timestamp is None else int(call.timestamp),
            call.record_id,
            call.turn_count,
            call.is_final,
            call.attributes,
            xxhash.xxh3_128_digest(encoding),
            encoding if keep_encoding else None,
            names,
            [result_print(result, names) for result in call.results],
        )

    def result_print(self, result: Result, names: dict[bytes, str]) -> ResultPrint:
        """Fingerprint one result; unknown type and id names go into `names`."""
        codes = bytearray()
        digests: list[bytes] = []
        definitive = self._add_type(result.entity_type, codes, digests, names)
        has_definitive = False
        if result.ids:
            has_definitive = self._add_ids(result.ids, definitive, codes, digests, names)
        if result.id is not None and not has_definitive:
            found = self._ids[result.id]
            if found:
                _add_id(GENERIC_ID, b"", found, codes, digests)
        if result.url is not None:
            self._add_url(result.url, codes, digests)
        _add_texts(result, codes, digests)
        if result.fields:
            self._add_fields(result.fields, codes, digests)
        return ResultPrint(bytes(codes), b"".join(digests), result.gain, result.score)

    def _add_type(
        self, name: str | None, codes: bytearray, digests: list[bytes], names: dict[bytes, str]
    ) -> frozenset[str]:
        """Add the type; gives the names of the ids that are definitive for it."""
        folded = name.strip().casefold() if name else ""
        if not folded:
            codes.append(NO_TYPE)
            return self._default_definitive
        number = self._rules.type_numbers.get(folded)
        if number is not None:
            codes.append(number)
            return self._definitive[number]
        codes.append(UNKNOWN_TYPE)
        name_digest = self._names[folded]
        digests.append(name_digest)
        names[bytes((UNKNOWN_TYPE,)) + name_digest] = (name or "").strip()
        return self._default_definitive

    def _add_ids(
        self,
        ids: dict[str, OneOrMany],
        definitive: frozenset[str],
        codes: bytearray,
        digests: list[bytes],
        names: dict[bytes, str],
    ) -> bool:
        """Add the named ids that have a value; gives whether one of them is definitive."""
        has_definitive = False
        memo, numbers = self._ids, self._rules.ids
        for number, name in sorted([(self._id_number(name, numbers), name) for name in ids]):
            value = ids[name]
            values = (value,) if isinstance(value, str) else value
            found = sorted({one for one in map(memo.__getitem__, values) if one})
            if not found:
                continue
            if name in definitive:
                has_definitive = True
            prefix = b""
            code = number
            if number > KEY:
                code = UNKNOWN_ID
                prefix = self._names[name]
                names[bytes((UNKNOWN_ID,)) + prefix] = name
            for one in found:
                _add_id(code, prefix, one, codes, digests)
        return has_definitive

    def _id_number(self, name: str, numbers: dict[str, int]) -> int:
        number = numbers.get(name)
        if number is None:
            return unknown_number(UNKNOWN_ID, int.from_bytes(self._names[name]))
        return number

    def _add_url(self, url: str, codes: bytearray, digests: list[bytes]) -> None:
        normal = normalise_url(url, self._rules.parameters)
        if normal is None:
            return
        codes.append(URL)
        digests.append(digest(f"{normal.host}\n{normal.path}"))
        if not normal.query:
            return
        codes.append(URL_QUERY)
        digests.append(digest(repr(normal.query)))
        names = {name for name, _ in normal.query}
        for parameter, number in self._rules.url_parameters.items():
            if parameter in names:
                values = sorted({value for name, value in normal.query if name == parameter})
                codes.append(number)
                digests.append(digest(repr(values)))

    def _add_fields(
        self, fields: dict[str, OneOrMany], codes: bytearray, digests: list[bytes]
    ) -> None:
        names = tuple(fields)
        order = self._field_orders.get(names)
        if order is None:
            order = self._remember_order(names)
        for name, code, prefix, memo in order:
            value = fields[name]
            if isinstance(value, str):
                found = memo[value]
            else:
                found = _set_digest({one for one in map(memo.__getitem__, value) if one})
            if found:
                codes += code
                digests.append(prefix + found)

    def _remember_order(self, names: tuple[str, ...]) -> list[tuple[str, bytes, bytes, _Memo]]:
        """Names of fields in the order of their numbers, with what each needs in the hot loop."""
        if len(self._field_orders) >= _MEMO_ENTRIES:
            self._field_orders.clear()
        numbered = []
        for name in names:
            if name in _IGNORED_FIELDS:
                continue
            number = self._rules.fields.get(name)
            prefix = b""
            if number is None or number > KEY:
                prefix = self._names[name]
                number = unknown_number(UNKNOWN_FIELD, int.from_bytes(prefix))
            memo = self._times if name in self._rules.time_fields else self._texts
            code = bytes((UNKNOWN_FIELD,)) if prefix else bytes((number,))
            numbered.append((number, (name, code, prefix, memo)))
        numbered.sort(key=lambda pair: pair[0])
        order = self._field_orders[names] = [entry for _, entry in numbered]
        return order


def _add_id(code: int, prefix: bytes, found: bytes, codes: bytearray, digests: list[bytes]) -> None:
    """Add one value of an id, and its key where case sets that apart; see `_id_digests`."""
    codes.append(code)
    digests.append(prefix + found[:8])
    if len(found) > 8:
        codes.append(code | KEY)
        digests.append(found[8:])


def _add_texts(result: Result, codes: bytearray, digests: list[bytes]) -> None:
    """Add title, snippet and content, each with its key where that is not the value itself."""
    if result.title is not None:
        text = normalise_text(result.title)
        if text:
            codes.append(TITLE)
            digests.append(digest(text))
            if len(text) > _TITLE_PREFIX:
                codes.append(TITLE | KEY)
                digests.append(digest(text[:_TITLE_PREFIX]))
    if result.snippet is not None:
        text = normalise_text(result.snippet)
        if text:
            codes.append(SNIPPET)
            digests.append(digest(text))
            if len(text) >= _LEAST_KEYED:
                codes.append(SNIPPET | KEY)
                digests.append(digest(text[:_SNIPPET_PREFIX]))
    if result.content is not None:
        text = normalise_text(result.content)
        if text:
            codes.append(CONTENT)
            digests.append(digest(text))
            if len(text) >= _LEAST_KEYED:
                codes.append(CONTENT | KEY)
                digests.append(digest(text[:_CONTENT_PREFIX]))


def _text_digest(raw: str) -> bytes:
    text = normalise_text(raw)
    return digest(text) if text else b""


def _time_digest(raw: str) -> bytes:
    instant = normalise_time(raw)
    if instant is None:
        return _text_digest(raw)
    # The seed keeps an instant apart from every text.
    return xxhash.xxh3_64_digest(str(instant).encode(), seed=1)


def _id_digests(raw: str) -> bytes:
    """The digest of an id and, behind it, that of its casefolded form where that differs."""
    value = normalise_id(raw)
    if not value:
        return b""
    folded = value.casefold()
    return digest(value) if folded == value else digest(value) + digest(folded)


def _set_digest(members: set[bytes]) -> bytes:
    """One digest for a set of values; a set of one is its member (SPEC 4.1)."""
    if len(members) < 2:
        return next(iter(members), b"")
    return xxhash.xxh3_64_digest(b"".join(sorted(members)), seed=2)
