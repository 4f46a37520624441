"""Small Parquet files, the bytes of their page headers, and what of a damaged one may be read.

Each column has several pages in each of two row groups. There is a column of each kind that a trace
has: text, numbers, flags, lists, lists in maps in lists. No two records have the same
conversation, so that each is found by it.
"""

import io
import tempfile
from functools import cache
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from goodgain.transforms.core.files.first_records import first_records
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.scoring.packing import Packer, Packing
from goodgain.transforms.core.scoring.payload import unpack
from tests.core.direct import shipped_rules
from tests.core.files import samples
from tests.native.paths import assert_same, read_given

_TEXT = pa.string()
_RESULT = pa.struct(
    [
        ("id", _TEXT),
        ("gain", pa.int8()),
        ("score", pa.float64()),
        ("ids", pa.map_(_TEXT, pa.list_(_TEXT))),
    ]
)
_SCHEMA = pa.schema(
    [
        ("conversation_id", _TEXT),
        ("iteration", pa.int64()),
        ("timestamp", pa.timestamp("ms", "UTC")),
        ("is_final", pa.bool_()),
        ("query", _TEXT),
        ("results", pa.list_(_RESULT)),
    ]
)
_ROWS = 8
_GROUP = 4
_SMALL_PAGES = {"data_page_size": 20, "write_batch_size": 2}


def _result(number, rank):
    return {
        "id": f"document {number * rank % 5}",
        "gain": None if rank == 2 else (number + rank) % 4,
        "score": number / (rank + 1),
        "ids": {"file_id": [f"f{rank}"], "site_id": ["s", f"{number % 3}"][: rank + 1]},
    }


def _record(number):
    return {
        "conversation_id": f"conversation-{number}",
        "iteration": 1 + number % 3,
        "timestamp": 1_700_000_000_123 + number,
        "is_final": number % 3 == 0,
        "query": None if number % 4 == 3 else ("budget", "plan")[number % 2],
        "results": [_result(number, rank) for rank in range(number % 4)],
    }


def _table():
    rows = [_record(number) for number in range(_ROWS)]
    for row in rows:
        for result in row["results"]:
            result["ids"] = list(result["ids"].items())
    return pa.Table.from_pylist(rows, _SCHEMA)


def _by_pyarrow(**options):
    file = io.BytesIO()
    pq.write_table(_table(), file, row_group_size=_GROUP, **_SMALL_PAGES, **options)
    return file.getvalue()


def _by_polars():
    """Its footers do not say which encodings the pages have."""
    file = io.BytesIO()
    written = pl.from_arrow(_table())
    written.write_parquet(file, row_group_size=_GROUP, data_page_size=20, compression="lz4")
    return file.getvalue()


def _by_duckdb(version):
    rows = _table()  # noqa: F841 - the query names it
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        options = (
            f"format parquet, row_group_size 4, parquet_version {version}, compression uncompressed"
        )
        duckdb.sql(f"copy (from rows) to '{path}' ({options})")
        return path.read_bytes()


_PLAIN = {"compression": "none", "use_dictionary": False}
_CHECKED = {"write_page_checksum": True}
_V2 = {"data_page_version": "2.0"}
_BARE = {"write_statistics": False}
_DELTAS = {
    "conversation_id": "DELTA_BYTE_ARRAY",
    "query": "DELTA_LENGTH_BYTE_ARRAY",
    "iteration": "DELTA_BINARY_PACKED",
    "timestamp": "DELTA_BINARY_PACKED",
    "results.list.element.score": "BYTE_STREAM_SPLIT",
}
LAYOUTS = {
    "plain.parquet": _by_pyarrow(**_PLAIN),
    "plain, checksums.parquet": _by_pyarrow(**_PLAIN, **_BARE, **_CHECKED),
    "dictionary.parquet": _by_pyarrow(compression="none", **_BARE),
    "dictionary, zstd, checksums.parquet": _by_pyarrow(compression="zstd", **_CHECKED),
    "v2, plain.parquet": _by_pyarrow(**_PLAIN, **_V2),
    "v2, plain, lz4, checksums.parquet": _by_pyarrow(
        **_PLAIN | {"compression": "lz4"}, **_V2, **_BARE, **_CHECKED
    ),
    "v2, dictionary, gzip.parquet": _by_pyarrow(compression="gzip", **_V2, **_BARE),
    "v2, deltas.parquet": _by_pyarrow(**_PLAIN, **_V2, **_BARE, column_encoding=_DELTAS),
    "polars.parquet": _by_polars(),
    "duckdb.parquet": _by_duckdb("v1"),
    "duckdb v2.parquet": _by_duckdb("v2"),
}


def header_places(content):
    """The positions of the bytes of all page headers."""
    return [place for begin, end in samples.page_headers(content) for place in range(begin, end)]


def _read(content):
    """The fingerprints of the calls of a file, with all of their records, and its rejected rows."""
    same = assert_same(content, "a.parquet", keep_records=True)
    payloads, rejected = same or read_given(_packer(), content, "a.parquet")  # without native code
    return [call for payload in payloads for call in unpack([payload.payload]).calls], rejected


@cache
def _packer():
    return Packer(Packing(shipped_rules(), keep_records=True))


@cache
def _read_undamaged(name):
    calls, rejected = _read(LAYOUTS[name])
    assert (len(calls), rejected) == (_ROWS, [])
    return calls


def fault(name, content):
    """What is wrong with the rows that a damaged file of a layout gives; "" if nothing is.

    They must be the right ones; fewer only beside rejected rows, with full sentences as reasons;
    and not more with the rejected ones. Native code and Python must read the same.
    """
    (shard,) = plan_shards(io.BytesIO(content), "a.parquet", len(content))
    first_records(io.BytesIO(content), shard)  # as a run does before it starts
    try:
        calls, rejected = _read(content)
    except AssertionError:
        return "native code and Python read different rows"
    expected = iter(_read_undamaged(name))
    if not all(call in expected for call in calls):  # each is looked for after the one before
        return "other rows"
    lost = sum(row.records for row in rejected)
    if len(calls) < _ROWS and not lost:
        return "rows are lost without a word"
    if len(calls) + lost > _ROWS:
        return "more rows than there are"
    broken = [row.reason for row in rejected if not row.reason.endswith(".")]
    return f"no sentence: {broken[0]}" if broken else ""
