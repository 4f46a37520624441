"""A null has the same meaning at every level of Parquet, natively and in Python."""

import pyarrow as pa
import pytest

from goodgain.transforms.core.records.search_call import SearchCall
from tests.core.files import samples
from tests.native.null_tables import check
from tests.native.paths import needs_native


@pytest.mark.slow
@needs_native
def test_native_code_and_python_read_generated_files_alike():
    payloads, rejected = map(sum, zip(*map(check, range(250)), strict=True))
    assert payloads > 300
    assert rejected > 500


def read(column, kind, values):
    ids = {"conversation_id": list("ab"), "iteration": [1, 1]}
    table = pa.table({**ids, column: pa.array(values, kind)})
    return samples.read(samples.table_bytes(table), "a.parquet")


@pytest.mark.usefixtures("reading")
def test_a_column_of_maps_instead_of_lists_may_be_null():
    """Python read it as an empty object, which is no list of results, and native code did not."""
    call, rejected = read("results", pa.map_(pa.string(), pa.int64()), [None, [("a", 1)]])
    assert call == SearchCall("a", 1)
    assert rejected.reason == "results must be a list of results, got an object."


@pytest.mark.usefixtures("reading")
def test_lists_of_one_number_in_a_map_do_not_depend_on_other_rows():
    kind = pa.map_(pa.string(), pa.list_(pa.float64()))
    first, _ = read("attributes", kind, [[("a", [1.0])], [("a", [1.0, 2.0])]])
    again, _ = read("attributes", kind, [[("a", [1.0])], [("a", [1.0])]])
    assert first == again
    assert first.reason == "attributes.a must be text, got a list."
