"""Avro rows are byte for byte those that fastavro writes."""

import io
import struct

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.pipeline.results.avro_rows import parse_schema, row_encoder
from goodgain.pipeline.results.datasets import Column, Dataset

WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-70, 5_000)
VALUES = {
    "text": st.text(),
    "whole": WHOLE,
    "number": st.floats(allow_nan=False) | st.integers(-9, 9),
    "time": WHOLE,
    "map": st.dictionaries(st.text(), st.text()),
    "flag": st.booleans(),
}
COLUMNS = tuple(
    Column(f"{kind}_{nullable}", kind, "", nullable)
    for kind in VALUES
    for nullable in (False, True)
)
encode = row_encoder(COLUMNS)


@given(
    st.fixed_dictionaries(
        {
            column.name: VALUES[column.kind] | st.none() if column.nullable else VALUES[column.kind]
            for column in COLUMNS
        }
    )
)
def test_bytes_equal_those_of_fastavro(row):
    written = io.BytesIO()
    fastavro.schemaless_writer(written, parse_schema(Dataset("rows", "", COLUMNS)), row)
    assert encode(row) == written.getvalue()
    assert encode(row) == written.getvalue()  # again, now with cached parts


@pytest.mark.parametrize("kind", [kind for kind in VALUES if kind != "flag"])
def test_null_in_a_column_that_is_not_nullable_is_refused(kind):
    with pytest.raises((TypeError, AttributeError, struct.error)):
        row_encoder([Column("one", kind, "")])({"one": None})
