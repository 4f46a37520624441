"""Row groups of outputs do not depend on how many rows are converted at a time."""

import io

import pyarrow.parquet as pq
import pytest

from goodgain.pipeline.results import parquet_rows
from goodgain.pipeline.results.datasets import REJECTED
from goodgain.pipeline.results.rows import struct_row
from goodgain.transforms.core.records.rejection import RejectedRecord


def write(rows):
    file = io.BytesIO()
    parquet_rows.PARQUET_DATASETS.write(REJECTED, rows, file)
    return file.getvalue()


@pytest.mark.parametrize("number", [0, 1, 3, 4, 6, 8, 9])
def test_rows_are_in_groups_of_equal_size(number, monkeypatch):
    rejected = (RejectedRecord(f"file {at % 3}", f"line {at}", "odd") for at in range(number))
    rows = [row for record in rejected for row in struct_row(record)]
    monkeypatch.setattr(parquet_rows, "ROWS_AT_ONCE", 4)
    monkeypatch.setattr(parquet_rows, "_ROWS_CONVERTED_AT_ONCE", 4)
    together = write(rows)
    monkeypatch.setattr(parquet_rows, "_ROWS_CONVERTED_AT_ONCE", 2)
    assert write(rows) == together
    file = pq.ParquetFile(io.BytesIO(together))
    sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    assert sizes == [4] * (number // 4) + [number % 4] * (number % 4 > 0)
    assert file.read().column("position").to_pylist() == [f"line {at}" for at in range(number)]
