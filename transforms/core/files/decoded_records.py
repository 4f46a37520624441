"""Converts decoded records of a block or batch to search calls, within bounds (SPEC 2, 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.files.bounds import check_bounds, is_within_bounds
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.records.parsing import (
    parse_escaped_mapping,
    parse_mapping,
    parse_mappings,
)
from goodgain.transforms.core.records.rejection import (
    RejectedRecord,
    payload_of_mapping,
    reject_record,
)
from goodgain.transforms.core.records.search_call import SearchCall


def calls_of_records(
    records: list[Any], shard: FileShard, position: Callable[[int], str], escaped: bool
) -> Iterator[SearchCall | RejectedRecord]:
    """The search call of each record, or the rejected row if it cannot be used.

    Args:
      records: emptied when all are converted, which leaves room in the processor's cache.
      position: puts the index of a record into words, for rejected rows.
      escaped: whether bytes that are not UTF-8 have become lone surrogates.
    """
    if shard.adaptation is not None:
        records[:] = map(shard.adaptation.apply, records)
    calls = None if escaped else parse_mappings(records)
    if calls is not None and all(is_within_bounds(call, shard.bounds) for call in calls):
        records.clear()
        calls.reverse()
        while calls:
            yield calls.pop()
        return
    parse = parse_escaped_mapping if escaped else parse_mapping
    for index, record in enumerate(records):
        try:
            yield check_bounds(parse(record), shard.bounds)
        except RecordError as error:
            yield reject_record(shard.path, position(index), error, payload_of_mapping(record))
