"""A format of traces, and what its decoders share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from msgspec import Struct

Refuse = Callable[[str], None]  # counts a record, or a part of one, that is refused for a reason
Decoder = Callable[[Any, Refuse], Iterator[Any]]
# Reads a document; None if it is not one that needs this reader.
DocumentReader = Callable[[BinaryIO], Iterator[Any] | None]

# Takes the path of a file, and its records with their positions in words.
Gather = Callable[[str, Iterator[tuple[str, Any]]], Iterator[tuple[str, Any]]]

NO_SPAN, NO_SPANS = "a span that is not an object", "a group of spans that is not an object"


class Format(Struct, frozen=True):
    """A format of traces.

    Attributes:
      decoder: makes the function from a raw record to the records for the mapping, once for each
        import.
      read_document: reads a JSON document that is an object, for deeply nested formats.
      rows: whether files may be CSV.
      gather: joins the records of a file that belong together, like messages of a conversation.
      is_part: whether a record is such a part, so that a list of them is one record.
    """

    help: str
    decoder: Callable[[], Decoder]
    read_document: DocumentReader | None = None
    rows: bool = False
    gather: Gather | None = None
    is_part: Callable[[Any], bool] | None = None


def keep_record(record: Any, _: Refuse) -> Iterator[Any]:
    """The record itself."""
    yield record


def objects(values: Any, refuse: Refuse, otherwise: str) -> Iterator[dict[str, Any]]:
    """The objects in a list; anything else in it is refused, with the reason `otherwise`."""
    for value in values if isinstance(values, list) else ():
        if isinstance(value, dict):
            yield value
        else:
            refuse(otherwise)


def object_of(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def pairs(values: Any) -> Iterator[tuple[str, Any]]:
    """The keys and values in a list of objects like `{"key": "x", "value": 1}`."""
    for pair in values if isinstance(values, list) else ():
        if isinstance(pair, dict) and isinstance(pair.get("key"), str):
            yield pair["key"], pair.get("value")
