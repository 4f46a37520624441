"""Errors about files that are read within fixed bounds name no option."""

import io

import pyarrow as pa
import pytest

from goodgain.transforms.core.files.input_formats import PARQUET
from goodgain.transforms.core.files.qrels import read_qrels
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.files.table_row import BrokenTableError
from goodgain.transforms.core.files.tables import TableFile, table_rows
from tests.core.files import samples

REMEDY = "write it in smaller blocks or row groups"
ROW = {"topic": "t", "document_id": "d" * 65 * 2**20, "gain": "1"}


def avro():
    schema = samples.avro_record("J", **dict.fromkeys(ROW, "string"))
    return samples.avro_bytes([ROW], "null", schema)


def parquet():
    return samples.table_bytes(pa.Table.from_pylist([ROW]))


@pytest.mark.slow
@pytest.mark.parametrize("write", [avro, parquet])
def test_the_error_of_large_judgments_names_no_option(write):
    content = write()
    (shard,) = plan_shards(io.BytesIO(content), "qrels", len(content), 2**30)
    (problem,) = read_qrels(shard, 0, lambda _: io.BytesIO(content))
    assert REMEDY in problem.text
    assert "--max" not in problem.text


@pytest.mark.slow
def test_the_error_of_a_large_table_names_no_option():
    table = TableFile("labels.parquet", PARQUET)
    content = parquet()
    with pytest.raises(BrokenTableError, match=REMEDY) as raised:
        list(table_rows(table, lambda _: io.BytesIO(content)))
    assert "--max" not in str(raised.value)
