"""Rows of other tools' Parquet files, with dicts for maps, by the oldest pyarrow too."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goodgain.pipeline.convert.importing.parquet_rows import parquet_rows

SOURCES = Path(__file__).parents[3]
TEXTS = pa.map_(pa.string(), pa.string())
COLUMNS = {
    "id": pa.array(["a", "b", None]),
    "seen": pa.array([["x"], [], None], pa.list_(pa.string())),
    "metadata": pa.array([[("k", "v"), ("k", "w")], [], None], TEXTS),
    "spans": pa.array(
        [[{"name": "s", "tags": [("a", None)], "at": [1, 2]}, None], [], None],
        pa.large_list(
            pa.struct([("name", pa.string()), ("tags", TEXTS), ("at", pa.list_(pa.int64()))])
        ),
    ),
    "usage": pa.array(
        [[("tokens", [[("in", 3)]])], None, []],
        pa.map_(pa.string(), pa.list_(pa.map_(pa.string(), pa.int64()))),
    ),
    "kind": pa.array(["x", None, "x"]).dictionary_encode(),
}


def test_maps_are_dicts_wherever_they_stand(tmp_path):
    table = pa.table(COLUMNS)
    pq.write_table(table, tmp_path / "rows.parquet")
    rows = list(parquet_rows(str(tmp_path / "rows.parquet")))
    with pytest.warns(UserWarning, match="already encountered"):
        assert rows == table.to_pylist(maps_as_pydicts="lossy")
    assert rows[0]["spans"] == [{"name": "s", "tags": {"a": None}, "at": [1, 2]}, None]


def test_the_package_asks_pyarrow_for_nothing_that_its_oldest_version_lacks():
    """Workers of Beam 2.62 have pyarrow 16, whose `to_pylist` takes no arguments."""
    for folder in ("transforms", "pipeline"):
        for module in (SOURCES / folder).rglob("*.py"):
            assert "to_pylist(maps" not in module.read_text(encoding="utf-8"), module
