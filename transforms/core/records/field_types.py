"""The fields of records and results with their types, from which it follows how they are read."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from goodgain.transforms.core.records.search_call import Result, SearchCall


def field_types(struct: type[Struct]) -> dict[str, Any]:
    """The type of each field, without None and limits: `int` for `Annotated[int, ...] | None`."""
    return {name: _strip_none(hint) for name, hint in get_type_hints(struct).items()}


def _strip_none(hint: Any) -> Any:
    if get_origin(hint) not in (Union, UnionType):
        return hint
    (kind,) = (type_ for type_ in get_args(hint) if type_ is not NoneType)
    return kind


# The fields that are maps, with their owner.
MAPS = {
    name: owner
    for owner, struct in (("call", SearchCall), ("result", Result))
    for name, kind in field_types(struct).items()
    if get_origin(kind) is dict
}
