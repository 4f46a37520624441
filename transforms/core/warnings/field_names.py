"""Finds field names that SPEC 2 does not define, and what they probably mean (SPEC 10).

It also advises how the rules for duplicates could identify results by names that they do not use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from goodgain.transforms.core.records.likely_fields import (
    CALL_FIELDS,
    RESULT_FIELDS,
    guess_call_field,
    guess_column,
    guess_result_field,
    names_an_id,
)
from goodgain.transforms.core.records.renames import RANK
from goodgain.transforms.core.records.search_call import USAGES

_OF_RESULT = "results[]."
_LEAST_DISTINCT_SHARE = 0.5  # among the values in one list of results, for an id of documents
_MOST_RESULTS = 1_000  # per record; names in further results are not counted
_MOST_NAMES = 1_000  # of each kind; where there are more, keys are data rather than names


class SeenNames(Struct, frozen=True):
    """The names that occur in some records.

    Attributes:
      call, result: names of the fields of records and of their results.
      ids, fields: names in the maps of results.
      attributes, costs, outcomes: names of attributes, of costs and of outcomes.
      types: by name of an id, the entity types of the results with it; "" for a missing type.
      without_source: fields that --map should rename, but that no record has.
      aspects: whether some results were judged for aspects.
      is_long: whether some records are tables with a row for each result.
      repeated: fields of results, and ids as `ids.NAME`, whose values mostly repeat within a list
        of results, so that they cannot identify documents.
      usage: whether some records are of documents that were opened or cited.
    """

    call: frozenset[str] = frozenset()
    result: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    types: Mapping[str, frozenset[str]] = {}
    without_source: tuple[str, ...] = ()
    attributes: frozenset[str] = frozenset()
    costs: frozenset[str] = frozenset()
    outcomes: frozenset[str] = frozenset()
    aspects: bool = False
    is_long: bool = False
    repeated: frozenset[str] = frozenset()
    usage: bool = False


class UnknownName(Struct, frozen=True, order=True):
    """A name that Good Gain does not read.

    Attributes:
      path: like `relevance` or `results[].relevance`.
      meant: the field that was probably meant, as for `--map`; None if none is close.
    """

    path: str
    name: str
    meant: str | None

    @property
    def identifies(self) -> bool:
        """Whether it is a field of a result that probably says which document it is."""
        meant = self.meant or ""
        return self.path.startswith(_OF_RESULT) and (
            meant in ("id", "url") or meant.startswith("ids.")
        )


def names_in(records: Iterable[Any]) -> SeenNames:
    """The names in some decoded records of any shape."""
    call: set[str] = set()
    result: set[str] = set()
    maps: dict[str, set[str]] = {"ids": set(), "fields": set()}
    of_call: dict[str, set[str]] = {"attributes": set(), "costs": set(), "outcomes": set()}
    aspects = False
    types: dict[str, set[str]] = {}
    spread = _Spread()
    usage = False
    for record in records:
        if not isinstance(record, Mapping):
            continue
        call.update(_text_keys(record))
        for name, keys in of_call.items():
            keys.update(_keys(record.get(name)))
        usage = usage or record.get("action") in USAGES
        results = _objects_in(record.get("results"))[:_MOST_RESULTS]
        spread.add(results)
        for inner in results:
            result.update(_text_keys(inner))
            aspects = aspects or inner.get("aspects") is not None
            for name, keys in maps.items():
                keys.update(_keys(inner.get(name)))
            entity_type = inner.get("entity_type")
            for id_name in _keys(inner.get("ids")):
                types.setdefault(id_name, set()).add(
                    entity_type if isinstance(entity_type, str) else ""
                )
    return SeenNames(
        _limit(call),
        _limit(result),
        _limit(maps["ids"]),
        _limit(maps["fields"]),
        {name: frozenset(types[name]) for name in _limit(types)},
        attributes=_limit(of_call["attributes"]),
        costs=_limit(of_call["costs"]),
        outcomes=_limit(of_call["outcomes"]),
        aspects=aspects,
        repeated=_limit(spread.repeated_names()),
        usage=usage,
    )


def join_names(several: Sequence[SeenNames]) -> SeenNames:
    """The names that occur in any of several inputs, and the sources that all of them lack."""
    types: dict[str, frozenset[str]] = {}
    for seen in several:
        for name, with_name in seen.types.items():
            types[name] = types.get(name, frozenset()) | with_name
    lacking = set(several[0].without_source).intersection(
        *(seen.without_source for seen in several)
    )
    joined = {
        name: frozenset().union(*(getattr(seen, name) for seen in several))
        for name in (
            "call", "result", "ids", "fields", "attributes", "costs", "outcomes", "repeated",
        )
    }  # fmt: skip
    return SeenNames(
        types=types,
        aspects=any(seen.aspects for seen in several),
        is_long=any(seen.is_long for seen in several),
        without_source=tuple(sorted(lacking)),
        usage=any(seen.usage for seen in several),
        **joined,
    )


def find_unknown_names(seen: SeenNames, rule_fields: Collection[str]) -> list[UnknownName]:
    """Every name that is not a field of a record or a result; those with a likely meaning first.

    Args:
      rule_fields: names of further fields in the rules for duplicates.
    """
    unknown = [UnknownName(name, name, guess_call_field(name)) for name in seen.call - CALL_FIELDS]
    for name in seen.result - RESULT_FIELDS:
        meant = guess_result_field(name)
        if meant is None and seen.is_long and guess_column(name) == RANK:
            meant = RANK
        if name in rule_fields:
            meant = f"fields.{name}"
        elif meant is None and names_an_id(name):
            meant = None if name in seen.repeated else f"ids.{name}"
        unknown.append(UnknownName(f"{_OF_RESULT}{name}", name, meant))
    return sorted(unknown, key=lambda name: (name.meant is None, name))


class _Spread:
    """How far the values of each field and id differ within lists of results."""

    def __init__(self) -> None:
        self._values: Counter[str] = Counter()
        self._distinct: Counter[str] = Counter()

    def add(self, results: Sequence[Mapping[Any, Any]]) -> None:
        """Add a list of results."""
        values: dict[str, list[str]] = {}
        for result in results:
            ids = result.get("ids")
            named = {f"ids.{name}": value for name, value in _items(ids)}
            for name, value in (*result.items(), *named.items()):
                if isinstance(name, str) and value is not None and name not in ("ids", "fields"):
                    values.setdefault(name, []).append(repr(value))
        for name, found in values.items():
            if len(found) > 1:
                self._values[name] += len(found)
                self._distinct[name] += len(set(found))

    def repeated_names(self) -> Iterator[str]:
        """The names whose values mostly repeat."""
        for name, number in self._values.items():
            if self._distinct[name] <= _LEAST_DISTINCT_SHARE * number:
                yield name


def _text_keys(record: Mapping[Any, Any]) -> list[str]:
    return [name for name in record if isinstance(name, str)]


def _objects_in(results: Any) -> list[Mapping[Any, Any]]:
    several = results if isinstance(results, list | tuple) else ()
    return [result for result in several if isinstance(result, Mapping)]


def _keys(map_: Any) -> list[str]:
    return [name for name, _ in _items(map_)]


def _items(map_: Any) -> list[tuple[str, Any]]:
    """The entries of a map, which some formats decode as a list of pairs."""
    if isinstance(map_, Mapping):
        items: Iterable[Any] = ((key, value) for key, value in map_.items() if value is not None)
    else:
        pairs = map_ if isinstance(map_, list | tuple) else ()
        items = (
            (pair.get("key"), pair.get("value"))
            if isinstance(pair, Mapping)
            else (*pair, None, None)[:2]
            for pair in pairs
            if isinstance(pair, Mapping | list | tuple)
        )
    return [(key, value) for key, value in items if isinstance(key, str)]


def _limit(names: Iterable[str]) -> frozenset[str]:
    return frozenset(sorted(names)[:_MOST_NAMES])
