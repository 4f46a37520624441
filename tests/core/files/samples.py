"""The same seeded records, written in every format and codec."""

import bz2
import gzip
import io
import json
import random
from datetime import UTC, datetime, timedelta

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS
from goodgain.transforms.core.files.parquet_footer import read_footer
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.files.shard_reader import read_shard
from goodgain.transforms.core.files.thrift import read_struct
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from tests.native.paths import assert_same

_WORDS = ["budget", "plan", "Überblick", "会议", "review", "sales", "notes", "🙂", "invoice"]
SYNC = bytes(range(0x90, 0xA0))
_TYPES = [None, "File", "Event", "EmailMessage", "People", "Gadget"]


def records(count, seed=7, results=6):
    """Plain records as a producer would write them; every field of SPEC 2 occurs, also as null."""
    rng = random.Random(seed)
    return [_record(rng, number, results) for number in range(count)]


def _text(rng, words):
    return rng.choice([None, " ".join(rng.choices(_WORDS, k=words))])


def _values(rng, names):
    chosen = rng.sample(names, rng.randrange(len(names) + 1))
    return {name: rng.choice(["x", ["y"], ["one", "two"], f"v{rng.random()}"]) for name in chosen}


def _result(rng, rank):
    return {
        "entity_type": rng.choice(_TYPES),
        "id": _text(rng, 1),
        "ids": _values(rng, ["file_id", "unique_id", "site_id"]),
        "url": rng.choice([None, "https://contoso.com/a%20b?web=1"]),
        "title": _text(rng, 4),
        "snippet": _text(rng, 12),
        "content": None,
        "fields": _values(rng, ["author", "start", "from"]),
        "gain": rng.choice([None, 0, 1, 2, 3, 4]),
        "score": rng.choice([None, rng.uniform(-5, 5), 1.0]),
        "aspects": (None, [], ["cause"], ["cause", "cure"])[rank % 4],
        "reference_id": f"turn1search{rank}",
    }


def _record(rng, number, results):
    return {
        "conversation_id": f"conversation-{number // 4}",
        "turn": 1,
        "iteration": number % 4 + 1,
        "call": rng.choice([None, 0, 1]),
        "record_id": rng.choice([None, f"record-{number}"]),
        "timestamp": rng.choice([None, -1, 1_700_000_000_123 + number]),
        "query": _text(rng, 3),
        "tool": "search",
        "turn_count": rng.choice([None, 1]),
        "is_final": number % 4 == 3,
        "action": ("search", "search", "open", "cite")[number % 4],
        "error": None if number % 3 else "no network",
        "outcomes": {"correct": 1.0, "rating": 0.25} if number % 4 == 3 else {},
        "attributes": {"arm": rng.choice("ab"), "market": "de"},
        "results": [_result(rng, rank) for rank in range(rng.randrange(results + 1))],
    }


def jsonl_bytes(rows):
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def _optional(name, kind):
    return {"name": name, "type": ["null", kind], "default": None}


def avro_record(name, **types):
    """The Avro schema of a record with fields of these types."""
    fields = [{"name": field, "type": kind} for field, kind in types.items()]
    return {"type": "record", "name": name, "fields": fields}


def avro_schema(results="Result"):
    many = {"type": "map", "values": ["string", {"type": "array", "items": "string"}]}
    result = {
        "type": "record",
        "name": results,
        "fields": [
            *(_optional(n, "string") for n in ("entity_type", "id", "url", "title", "snippet")),
            *(_optional(n, "string") for n in ("content", "reference_id")),
            {"name": "ids", "type": many},
            {"name": "fields", "type": many},
            _optional("gain", "int"),
            _optional("score", "double"),
            _optional("aspects", {"type": "array", "items": "string"}),
        ],
    }
    time = {"type": "long", "logicalType": "timestamp-millis"}
    return {
        "type": "record",
        "name": "SearchCall",
        "fields": [
            {"name": "conversation_id", "type": "string"},
            {"name": "turn", "type": "int"},
            {"name": "iteration", "type": "long"},
            _optional("call", "int"),
            *(_optional(n, "string") for n in ("record_id", "query", "tool")),
            _optional("timestamp", time),
            _optional("turn_count", "int"),
            {"name": "is_final", "type": "boolean"},
            {"name": "action", "type": "string"},
            _optional("error", "string"),
            {"name": "outcomes", "type": {"type": "map", "values": "double"}},
            {"name": "attributes", "type": {"type": "map", "values": "string"}},
            {"name": "results", "type": {"type": "array", "items": result}},
        ],
    }


# That native code decompresses, too.
NATIVE_CODECS = ("deflate", "bzip2", "snappy", "zstandard")


def both_readings(names, parts=NATIVE_CODECS):
    """(name, reading) of each name as installed; also in Python if it contains one of `parts`."""
    return [(name, "as built") for name in names] + [
        (name, "python") for name in names if any(part in name for part in parts)
    ]


def avro_bytes(rows, codec="deflate", schema=None, block=4000):
    file = io.BytesIO()
    schema = schema or avro_schema()
    fastavro.writer(file, schema, rows, codec=codec, sync_interval=block, sync_marker=SYNC)
    return file.getvalue()


def zstandard_avro_bytes(rows):
    """Avro with the zstandard codec; fastavro would need another package to write it."""
    return recode(avro_bytes(rows, "null"), b"zstandard", zstandard.compress)


def recode(plain, codec, compress):
    """An uncompressed Avro file, compressed block by block with a codec."""
    source = io.BytesIO(plain)
    reader = fastavro.block_reader(source)
    head = plain[: source.tell()].replace(b"\x08null", bytes([2 * len(codec)]) + codec)
    blocks = []
    for block in reader:
        data = compress(block.bytes_.getvalue())
        blocks.append(zigzag(block.num_records) + zigzag(len(data)) + data + SYNC)
    return head + b"".join(blocks)


def zigzag(number):
    file = io.BytesIO()
    fastavro.schemaless_writer(file, "long", number)
    return file.getvalue()


def parquet_schema(many=True):
    text = pa.string()
    values = pa.map_(text, pa.list_(text) if many else text)
    texts = ("entity_type", "id", "url", "title", "snippet", "content", "reference_id")
    result = pa.struct(
        [
            *((name, text) for name in texts),
            ("ids", values),
            ("fields", values),
            ("gain", pa.int8()),
            ("score", pa.float64()),
            ("aspects", pa.list_(text)),
        ]
    )
    return pa.schema(
        [
            ("conversation_id", text),
            ("turn", pa.int32()),
            ("iteration", pa.int64()),
            ("call", pa.int32()),
            *((name, text) for name in ("record_id", "query", "tool")),
            ("timestamp", pa.timestamp("ms", "UTC")),
            ("turn_count", pa.int32()),
            ("is_final", pa.bool_()),
            ("action", text),
            ("error", text),
            ("outcomes", pa.map_(text, pa.float64())),
            ("attributes", pa.map_(text, text)),
            ("results", pa.list_(result)),
        ]
    )


def _pairs(values):
    return [(k, v if isinstance(v, list) else [v]) for k, v in values.items()]


def parquet_rows(rows):
    return [
        {
            **row,
            "outcomes": list(row["outcomes"].items()),
            "attributes": list(row["attributes"].items()),
            "results": [
                {**r, "ids": _pairs(r["ids"]), "fields": _pairs(r["fields"])}
                for r in row["results"]
            ],
        }
        for row in rows
    ]


def parquet_bytes(rows, codec="snappy", group=100):
    table = pa.Table.from_pylist(parquet_rows(rows), parquet_schema())
    return table_bytes(table, codec, group)


def table_bytes(table, codec="snappy", group=100, **options):
    """A Parquet file; the options are those of `pyarrow.parquet.write_table`."""
    file = io.BytesIO()
    pq.write_table(table, file, compression=codec, row_group_size=group, **options)
    return file.getvalue()


def page_headers(content):
    """Begin and end of each page header of a Parquet file."""
    for group in read_footer(io.BytesIO(content)):
        for chunk in group.chunks:
            at = chunk.begin
            while at < chunk.begin + chunk.size:
                header, length = read_struct(content[at:])
                yield at, at + length
                at += length + header[3]


COMPRESS = {
    "": lambda data: data,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".zst": zstandard.compress,
}


class Files(dict):
    """Files in memory: path to content."""

    def open(self, path):
        if path not in self:
            raise FileNotFoundError(2, "No such file", path)
        return io.BytesIO(self[path])


def read(content, path="traces.jsonl", shard_bytes=1 << 30, bounds=DEFAULT_BOUNDS):
    """All records of a file, read in shards of this size; native code must read the same."""
    assert_same(content, path, shard_bytes, bounds=bounds)
    files = Files({path: content})
    shards = plan_shards(io.BytesIO(content), path, len(content), shard_bytes, bounds=bounds)
    return [record for shard in shards for record in read_shard(shard, files.open)]


def calls(read_records):
    return [record for record in read_records if isinstance(record, SearchCall)]


def rejected_of(read_records):
    return [record for record in read_records if isinstance(record, RejectedRecord)]


def moment(millis):
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)


def markers(content):
    """Offsets of all sync markers of an Avro file, the header's first."""
    return [n for n in range(len(content)) if content[n : n + len(SYNC)] == SYNC]
