"""Datasets as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import BinaryIO

import msgspec

from goodgain.pipeline.results.dataset_format import (
    TIMES,
    DatasetFormat,
    Row,
    iso_of_millis,
    rows_of,
)
from goodgain.pipeline.results.datasets import Dataset
from goodgain.transforms.core.records.epoch import millis_of_moment


def _write_jsonl(dataset: Dataset, rows: Iterable[Row], file: BinaryIO) -> None:
    names = [column.name for column in dataset.columns]
    times = [column.name for column in dataset.columns if column.kind == "time"]
    encode = msgspec.json.Encoder().encode
    for row in rows:
        row = {name: row[name] for name in names}
        if times:
            row = row | {name: iso_of_millis(row[name]) for name in times}
        file.write(encode(row) + b"\n")


def _read_jsonl(
    file: BinaryIO, conversation_ids: Collection[str] | None = None, /
) -> Iterator[Row]:
    for row in rows_of(conversation_ids, map(json.loads, file)):
        for name in TIMES:
            if row.get(name) is not None:
                row[name] = millis_of_moment(datetime.fromisoformat(row[name]))
        yield row


JSONL_DATASETS = DatasetFormat(".jsonl", _write_jsonl, _read_jsonl)
