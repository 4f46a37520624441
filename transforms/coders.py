"""Coders that carry Good Gain's records between the stages of a Beam pipeline.

Importing the module registers them, so that any PCollection of these types uses them. Beam has no
coder for a union: set `element_type` to `ANY_RECORD` for a mix of calls and rejected records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import apache_beam as beam
import msgspec
from apache_beam.typehints.native_type_compatibility import convert_to_beam_type
from apache_beam.typehints.typehints import UnionConstraint

from goodgain.transforms.core.judgments.judgment import LabelRequest
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall, timestamp_hook

_CALL, _REJECTED = b"c", b"r"
_Outputs = TypeVar("_Outputs")


class StructCoder(beam.coders.Coder):
    """msgspec Structs as MessagePack; with sorted keys, equal values have equal bytes."""

    def __init__(self, type_: Any, sort_keys: bool = True) -> None:
        """A coder for exactly this type: a Struct or a list of Structs.

        Keys can be sorted if all maps have string keys; state needs no order.
        """
        self._type = type_
        self._sort_keys = sort_keys
        self._encoder = msgspec.msgpack.Encoder(order="sorted" if sort_keys else None, enc_hook=int)
        self._decoder = msgspec.msgpack.Decoder(type_, dec_hook=timestamp_hook)

    def encode(self, value: Any) -> bytes:
        """The bytes of one value."""
        return self._encoder.encode(value)

    def decode(self, encoded: bytes) -> Any:
        """The value from bytes made by `encode`."""
        return self._decoder.decode(encoded)

    def is_deterministic(self) -> bool:
        """Whether equal values encode to equal bytes."""
        return self._sort_keys

    def to_type_hint(self) -> Any:
        """The type of the values."""
        return self._type

    @classmethod
    def from_type_hint(cls, typehint: Any, registry: Any) -> StructCoder:
        """The coder for a type requested from the registry."""
        return cls(typehint)

    def __reduce__(self) -> tuple[type[StructCoder], tuple[Any, bool]]:
        """Pickle only the type, since msgspec's encoders cannot be pickled."""
        return StructCoder, (self._type, self._sort_keys)

    def __eq__(self, other: object) -> bool:
        """Coders of the same type are equal."""
        return isinstance(other, StructCoder) and other.__reduce__() == self.__reduce__()

    def __hash__(self) -> int:
        """The hash of the type."""
        return hash(self._type)


_call_coder, _rejected_coder = StructCoder(SearchCall), StructCoder(RejectedRecord)


class RecordCoder(beam.coders.Coder):
    """Calls and rejected records together: a byte for the kind, then the bytes of `StructCoder`."""

    def encode(self, value: SearchCall | RejectedRecord) -> bytes:
        """The bytes of one record."""
        if isinstance(value, SearchCall):
            return _CALL + _call_coder.encode(value)
        return _REJECTED + _rejected_coder.encode(value)

    def decode(self, encoded: bytes) -> Any:
        """The record from bytes made by `encode`."""
        coder = _call_coder if encoded[:1] == _CALL else _rejected_coder
        return coder.decode(encoded[1:])

    def is_deterministic(self) -> bool:
        """True: equal records encode to equal bytes."""
        return True

    def to_type_hint(self) -> Any:
        """The type of the records."""
        return ANY_RECORD


class AnyRecordHint(UnionConstraint):
    """The union of calls and rejected records, recognized by its class.

    Beam's type checks treat it as the union. Python's own `SearchCall | RejectedRecord` has a coder
    too, but Beam 2.62 cannot compare it with a consumer's input type.
    """

    def __init__(self) -> None:
        """Make the union of the two types."""
        super().__init__({SearchCall, RejectedRecord})


ANY_RECORD = AnyRecordHint()


def apply_typed(
    elements: beam.PCollection[Any], label: str, do_fn: beam.DoFn, **types: Any
) -> tuple[beam.PCollection[Any], ...]:
    """The outputs of a DoFn, whose elements have these types; the first is its main one.

    Args:
      types: the types by tag, in the order of the outputs; of Any and of dicts Beam infers them.
    """
    main, *tags = types
    outputs = elements | label >> beam.ParDo(do_fn).with_outputs(*tags, main=main)
    for tag, type_ in types.items():
        if type_ is not Any and get_origin(type_) is not dict:
            # Workers have a fast coder of tuples only for Beam's own type of them.
            outputs[tag].element_type = convert_to_beam_type(type_)
    return tuple(outputs[tag] for tag in types)


def apply_to_outputs(
    elements: beam.PCollection[Any], label: str, do_fn: beam.DoFn, outputs: Callable[..., _Outputs]
) -> _Outputs:
    """The outputs of a DoFn in a NamedTuple of PCollections, whose annotations say their types.

    The first is the main one; the others are tagged by their names.
    """
    hints = get_type_hints(outputs)
    types = {tag: get_args(hint)[0] for tag, hint in hints.items()}
    return outputs(*apply_typed(elements, label, do_fn, **types))


beam.coders.registry.register_coder(LabelRequest, StructCoder)
beam.coders.registry.register_coder(SearchCall, StructCoder)
beam.coders.registry.register_coder(RejectedRecord, StructCoder)
beam.coders.registry.register_coder(AnyRecordHint, RecordCoder)
