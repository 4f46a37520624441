"""Where each value of a producer's record goes, as a table for native code (SPEC 2).

The table says the same as `Adaptation.apply`, as far as that depends on names alone.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from goodgain.transforms.core.option import differs_beside
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.renames import Pairs
from goodgain.transforms.core.records.search_call import Result, SearchCall

_CALL = {name: number for number, name in enumerate(SearchCall.__struct_fields__)}
_CALL_FROM_0 = {**_CALL, "iteration": len(_CALL)}  # iterations that are counted from 0
_RESULT = {name: number for number, name in enumerate(Result.__struct_fields__)}
_MOST_NAMES = 64
_MOST_DOTS = 16

# A name, the number of its field, the key in the map that is its field with its place among all
# keys, and the names inside of the object under it. A record that has a name with neither field nor
# names is left to Python.
_Name = tuple[str, int | None, tuple[str, int] | None, Any]
# A path, the number of its field, and the key in it with its place.
_Path = tuple[list[str], int, tuple[str, int] | None]


class CompiledNames(Struct, frozen=True):
    """The names in records and in their results."""

    call: list[_Name]
    result: list[_Name]

    @property
    def results(self) -> str | None:
        """The name of the results in a record; None if they are deeper inside."""
        number = _CALL["results"]
        return next((name for name, field, _, _ in self.call if field == number), None)

    def leaves_to_python(self, in_call: set[str], in_results: set[str]) -> bool:
        """Whether records with these names are left to Python."""
        return any(
            field is None and inside is None and name in present
            for names, present in ((self.call, in_call), (self.result, in_results))
            for name, field, _, inside in names
        )


def compile_names(adaptation: Adaptation | None) -> CompiledNames | None:
    """The names of an adaptation, or those of SPEC 2; None if no table can say the same."""
    given = adaptation or Adaptation()
    if differs_beside(given, ("mapping", "iteration_base")):
        return None  # more than names, like labels on another scale
    call = _names(given.renames.call, _CALL if given.iteration_base else _CALL_FROM_0)
    result = _names(given.renames.result, _RESULT)
    return None if call is None or result is None else CompiledNames(call, result)


def _names(pairs: Pairs, numbers: dict[str, int]) -> list[_Name] | None:
    targets = [target for target, _ in pairs]
    if not all(source for _, source in pairs) or not all(
        target[0] in numbers and (len(target) == 1 or _is_entry(target, targets))
        for target in targets
    ):
        return None
    paths = [
        (source.split("."), numbers[target[0]], (target[1], at) if len(target) > 1 else None)
        for at, (target, source) in enumerate(pairs)
    ]
    table = _table(paths)
    if table is None or any(path[0] in numbers for path, *_ in paths if len(path) > 1):
        return None
    for name, number in numbers.items():
        # Which of a field and the one renamed to it counts depends on their values.
        field = None if (name,) in targets else number
        table.setdefault(name, (name, field, None, None))
    last = len(numbers)
    names = sorted(table.values(), key=lambda entry: last if entry[1] is None else entry[1])
    return names if len(names) <= _MOST_NAMES else None


def _is_entry(target: tuple[str, ...], targets: list[tuple[str, ...]]) -> bool:
    """Whether this is a printable entry of a map that is not renamed as a whole."""
    return target[1].isprintable() and target[:1] not in targets


def _table(paths: list[_Path]) -> dict[str, _Name] | None:
    """The first names of paths; None if one is both a value and an object with values."""
    table: dict[str, _Name] = {}
    inside: dict[str, list[_Path]] = {}
    for (first, *rest), number, key in paths:
        if len(rest) > _MOST_DOTS or (not rest and first in table) or not _is_name(first, rest):
            return None
        if rest:
            inside.setdefault(first, []).append((rest, number, key))
        else:
            table[first] = (first, number, key, None)
    for first, rests in inside.items():
        names = _table(rests)
        if names is None or first in table or len(names) > _MOST_NAMES:
            return None
        table[first] = (first, None, None, list(names.values()))
        # If a name has these dots in it, that comes before the path.
        wholes = [".".join((first, *rest)) for rest, *_ in rests]
        table |= {whole: (whole, None, None, None) for whole in wholes}
    return table


def _is_name(first: str, rest: list[str]) -> bool:
    """Whether the first part of a path is a name in native code; surrogates are none."""
    return (bool(first) or not rest) and all(rest) and first.isprintable()
