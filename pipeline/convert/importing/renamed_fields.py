"""`--map FIELD=NAME` of an import: fields of trace records that a mapping reads from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goodgain.pipeline.convert.importing.expressions import Expression
from goodgain.pipeline.convert.importing.mapping_file import MappingFile
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.records.renames import RANK, Pairs, parse_renames, value_at

# Fields of trace records that mappings call otherwise.
_KEYS = {"conversation_id": "conversation", "timestamp": "time"}


def with_renamed_fields(mapping: MappingFile, renames: Sequence[str]) -> MappingFile:
    """A mapping that reads fields from names or paths instead of by its own expressions.

    A field of a call is looked for in the records that the mapping sees, one of a result in each
    item of its results.

    Args:
      renames: entries like `gain=relevance` or `attributes.arm=meta.arm`; `url=` leaves a field
        out.

    Raises:
      UsageError: an entry is no such, or the mapping has no such key.
    """
    renamed = parse_renames(renames)
    of_row = tuple(pair for pair in renamed.result if pair[0] == (RANK,))
    of_result = tuple(pair for pair in renamed.result if pair not in of_row)
    of_record = _changes(mapping, (*renamed.call, *of_row))
    refused = sorted(set(of_record) - mapping.keys_of_unit())
    if refused:
        raise UsageError(
            f"--map cannot name {', '.join(refused)}: the mapping reads each record as a "
            f"{mapping.unit}, which has no such field."
        )
    result = mapping.result.model_copy(update=_changes(mapping.result, of_result))
    changed = mapping.model_copy(update={**of_record, "result": result})
    for _, path in (*renamed.call, *renamed.result):
        changed.note_fields((path, path.partition(".")[0]))
    return changed


def _changes(part: Any, pairs: Pairs) -> dict[str, Any]:
    """The expressions of a part of a mapping that change, by key; None where one is left out."""
    changes: dict[str, Any] = {}
    for (field, *entry), path in pairs:
        key = _KEYS.get(field, field)
        if not entry:
            changes[key] = _at(path) if path else None
            continue
        entries = {**(changes.get(key) or getattr(part, key))}
        entries.pop(entry[0], None)
        changes[key] = entries | ({entry[0]: _at(path)} if path else {})
    return changes


def _at(path: str) -> Expression:
    return lambda record: value_at(record, path)
