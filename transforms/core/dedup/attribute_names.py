"""Names of ids and fields: their numbers, their order and their codes in a fingerprint (SPEC 4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter

from goodgain.transforms.core.dedup.attribute_parts import (
    SEEDS,
    Part,
    id_part,
    text_part,
    time_part,
)
from goodgain.transforms.core.dedup.memo import Memo
from goodgain.transforms.core.dedup.rules import (
    KEY,
    UNKNOWN_FIELD,
    UNKNOWN_ID,
    RuleTable,
    digest,
)
from goodgain.transforms.core.records.search_call import TEXTS

# The number and name of an id or field, the parts of a fingerprint by its values, and its codes
# there; a tuple is faster to take apart than an object.
AttributeName = tuple[int, str, Memo[str, Part], bytes]


class AttributeNames:
    """What a fingerprint needs of names of ids and fields. Not thread-safe, since it has caches.

    Attributes:
      id_orders: by the names of a result's ids, these ids in the order of a fingerprint, by number.
      field_orders: the same of its fields, without texts, which are attributes of their own.
    """

    def __init__(self, rules: RuleTable) -> None:
        self._rules = rules
        self._ids = Memo(self._id_name)
        self._fields = Memo(self._field_name)
        self.id_orders = Memo(self._id_order)
        self.field_orders = Memo(self._field_order)

    def _id_order(self, names: tuple[str, ...]) -> list[AttributeName]:
        return sorted((self._ids[name] for name in names), key=_number_of)

    def _field_order(self, names: tuple[str, ...]) -> list[AttributeName]:
        counted = (self._fields[name] for name in names if name not in TEXTS)
        return sorted(counted, key=_number_of)

    def _id_name(self, name: str) -> AttributeName:
        part_of = partial(id_part, stripped=self._rules.stripped.get(name))
        return _name(name, self._rules.ids, UNKNOWN_ID, part_of)

    def _field_name(self, name: str) -> AttributeName:
        part_of = time_part if name in self._rules.time_fields else text_part
        return _name(name, self._rules.fields, UNKNOWN_FIELD, part_of)


_number_of: Callable[[AttributeName], int] = itemgetter(0)


def _name(
    name: str,
    numbers: dict[str, int],
    unknown: int,
    part_of: Callable[[bytes, int], Callable[[str], Part]],
) -> AttributeName:
    """A name; digests of its values are seeded by its number or its digest."""
    number = numbers.get(name, KEY)
    if number < KEY:
        codes = bytes((number,))
        seed = SEEDS[number]
    else:
        codes = bytes((unknown,)) + digest(name)
        seed = int.from_bytes(codes[1:])
        number = int.from_bytes(codes)
    return number, name, Memo(part_of(codes, seed)), codes
