"""Small files that would exhaust memory or crash a reader, with the reasons of their rejection."""

import bz2
import gzip
import io
import json
import lzma
import zlib

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from tests.core.files import samples
from tests.core.files.samples import SYNC, zigzag

MEBIBYTE = 2**20
_BOMB = 1_100 * MEBIBYTE  # more than `limited.MOST_MEMORY` if it were all held


def avro_file(schema, blocks, codec=b"null"):
    """An Avro file of given blocks: (records, data), with data as compressed by the codec."""
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    entries = ((b"avro.schema", text), (b"avro.codec", codec))
    head = b"".join(zigzag(len(part)) + part for entry in entries for part in entry)
    written = b"".join(zigzag(count) + zigzag(len(data)) + data + SYNC for count, data in blocks)
    return b"Obj\x01" + zigzag(len(entries)) + head + zigzag(0) + SYNC + written


def with_field(kind):
    """The schema of a record with one more field, of this type, which no reader uses."""
    return samples.avro_record("Call", conversation_id="string", iteration="int", more=kind)


def _call(more):
    """An encoded record of a `with_field` schema, given the bytes of the further field."""
    return zigzag(1) + b"c" + zigzag(1) + more


def _compress_zeros(compressor, length=_BOMB):
    zeros = bytes(MEBIBYTE)
    parts = [compressor.compress(zeros) for _ in range(length // MEBIBYTE)]
    return b"".join(parts) + compressor.flush()


def deflate_bomb():
    """A compressed part that does not refer to earlier data, repeated many times."""
    compressor = zlib.compressobj(1, wbits=-15)
    part = compressor.compress(bytes(MEBIBYTE)) + compressor.flush(zlib.Z_FULL_FLUSH)
    data = part * (_BOMB // MEBIBYTE) + compressor.flush()
    return avro_file(with_field("bytes"), [(1, data)], b"deflate")


def _avro_bomb(codec, compressor, streams=1):
    """A block of zeros; repeats one stream if compressing all zeros would take long."""
    schema = with_field({"type": "array", "items": "boolean"})

    def make():
        data = _compress_zeros(compressor(), _BOMB // streams) * streams
        return avro_file(schema, [(1, data)], codec)

    return make


def snappy_bomb():
    data = pa.Codec("snappy").compress(bytes(_BOMB // 2), asbytes=True) + bytes(4)
    return avro_file(with_field("bytes"), [(1, data)], b"snappy")


def recursive_avro():
    schema = with_field(samples.avro_record("Node", next=["null", "Node"]))
    return avro_file(schema, [(1, _call(zigzag(1) * 20_000 + zigzag(0)))])


def avro_with_empty_items(items):
    data = _call(zigzag(10**9) + zigzag(0))
    return avro_file(with_field({"type": "array", "items": items}), [(1, data)])


def empty_items_of_the_first_record():
    """The header of the block claims more records than fit, so that they seem to have no items."""
    schema = with_field({"type": "array", "items": "null"})
    return avro_file(schema, [(4, _call(zigzag(10**9) + zigzag(0)))])


def empty_items_in_a_cut_list():
    """Of the twenty lists only the first is there, and nothing after its number of items."""
    schema = with_field({"type": "array", "items": {"type": "array", "items": "null"}})
    return avro_file(schema, [(1, _call(zigzag(20) + zigzag(10**9) + zigzag(0)))])


def without_fields_avro():
    plain = samples.avro_bytes(samples.records(3), "null")
    return plain.replace(b'"fields"', b'"fiemds"')


def invalid_logical_type():
    schema = samples.avro_schema()
    (time,) = (field for field in schema["fields"] if field["name"] == "timestamp")
    time["type"] = ["null", {"type": "long", "logicalType": ["timestamp-millis"]}]
    rows = io.BytesIO()
    for row in samples.records(3):
        fastavro.schemaless_writer(rows, samples.avro_schema(), row)
    return avro_file(schema, [(3, rows.getvalue())])


def nested_schema(depth):
    text = json.dumps(with_field("DEEP")).encode()
    inside = b'{"type": "array", "items": ' * depth + b'"int"' + b"}" * depth
    return avro_file(text.replace(b'"DEEP"', inside), [(1, _call(zigzag(0)))])


def wide_map_header():
    """A header with millions of metadata entries."""
    entries = b"".join(zigzag(4) + b"%04x" % n + zigzag(0) for n in range(65_536)) * 20
    return b"Obj\x01" + zigzag(65_536 * 20) + entries


def many_small_items(codec, compress):
    """A list of records of one byte each, within the bound on decoded bytes."""
    item = samples.avro_record("Item", a=["null", "string"])
    data = _call(zigzag(40 * MEBIBYTE) + bytes(40 * MEBIBYTE) + zigzag(0))
    schema = with_field({"type": "array", "items": item})
    return avro_file(schema, [(1, compress(data))], codec)


def _parquet(table, **options):
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def _parquet_call(results):
    return pa.table({"conversation_id": ["c"], "iteration": [1], "results": results})


def dictionary_bomb():
    title = pa.DictionaryArray.from_arrays(
        pa.array([0] * 100_000, pa.int32()), pa.array(["x" * 50_000])
    )
    results = pa.StructArray.from_arrays([title], ["title"])
    lists = pa.ListArray.from_arrays(pa.array([0, 100_000], pa.int32()), results)
    return _parquet(_parquet_call(lists), compression="zstd")


def attributes_bomb():
    """Like `dictionary_bomb`, but in a record's attributes."""
    value = pa.DictionaryArray.from_arrays(
        pa.array([0] * 200_000, pa.int32()), pa.array(["x" * 50_000])
    )
    keys = pa.array([f"k{n}" for n in range(200_000)])
    pairs = pa.StructArray.from_arrays([keys, value], ["key", "value"])
    lists = pa.ListArray.from_arrays(pa.array([0, 200_000], pa.int32()), pairs)
    table = pa.table({"conversation_id": ["c"], "iteration": [1], "attributes": lists})
    return _parquet(table, compression="zstd")


def rows_bomb():
    """Many rows that share one long query."""
    count = 500
    query = pa.DictionaryArray.from_arrays(
        pa.array([0] * count, pa.int32()), pa.array(["x" * 900_000])
    )
    ids = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["c"]))
    table = pa.table({"conversation_id": ids, "iteration": [1] * count, "query": query})
    return _parquet(table, compression="zstd")


def shared_texts(rows, results):
    """Rows whose results share one long text: 384 MiB in two kilobytes."""
    snippet = {"snippet": "x" * (3 * MEBIBYTE)}
    table = {
        "conversation_id": [f"c{n}" for n in range(rows)],
        "iteration": [1] * rows,
        "results": [[snippet] * results] * rows,
    }
    return _parquet(pa.table(table), compression="zstd")


def null_results(count=10_000_000):
    gains = pa.nulls(count, pa.int8())
    results = pa.StructArray.from_arrays([gains], ["gain"])
    lists = pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), results)
    return _parquet(_parquet_call(lists), compression="zstd")


def page_bomb():
    """A small file with one page of 280 MiB."""
    title = pa.array(["x" * (280 * MEBIBYTE)])
    table = pa.table({"conversation_id": ["c"], "iteration": [1], "query": title})
    return _parquet(table, compression="zstd", use_dictionary=False, write_statistics=False)


def long_ids(rows):
    """Ids of a mebibyte each, all in one dictionary page."""
    ids = [f"c{n}" + "d" * MEBIBYTE for n in range(rows)]
    table = pa.table({"conversation_id": ids, "iteration": [1] * rows})
    return _parquet(table, compression="zstd", write_statistics=False)


def incremental_bomb():
    """Equal values, each encoded by DELTA_BYTE_ARRAY as a prefix of the one before."""
    title = pa.array(["x" * 20_000] * 50_000)
    results = pa.StructArray.from_arrays([title], ["title"])
    lists = pa.ListArray.from_arrays(pa.array([0, 50_000], pa.int32()), results)
    return _parquet(
        _parquet_call(lists),
        compression="zstd",
        use_dictionary=False,
        column_encoding={"results.list.element.title": "DELTA_BYTE_ARRAY"},
    )


def wide_xz_window():
    """A valid record in a stream whose header asks for a window of a gigabyte."""
    data = bytearray(lzma.compress(_call(zigzag(0)), preset=0))
    header = slice(
        12, 12 + 4 * data[12]
    )  # the block header, which follows the stream header, up to its checksum
    data[16] = 36  # 2 * 2**29 bytes
    data[header.stop : header.stop + 4] = zlib.crc32(data[header]).to_bytes(4, "little")
    return avro_file(with_field("bytes"), [(1, bytes(data))], b"xz")


def line_with_many(item, millions=22):
    """A line with many results, compressed in streams of one million items each."""
    head = b'{"conversation_id": "c", "iteration": 1, "results": [' + item
    parts = head, (b"," + item) * 1_000_000, b"]}\n"
    begin, items, end = (gzip.compress(part, 1, mtime=0) for part in parts)
    return begin + items * millions + end


def many_attributes():
    entries = b",".join(b'"%x":""' % n for n in range(5_000_000))
    line = b'{"conversation_id": "c", "iteration": 1, "attributes": {' + entries + b"}}\n"
    return gzip.compress(line, 1, mtime=0)


def array_with_one_record(count=15_000_000):
    head = b'[{"conversation_id": "c", "iteration": 1, "results": ['
    return head + b",".join([b"{}"] * count) + b"]}]"


def endless_line(compressor):
    return lambda: _compress_zeros(compressor(), _BOMB // 10) * 10


def _gzip():
    return zlib.compressobj(1, wbits=31)


def doubled_records(levels, blocks=1):
    """Records that each hold two of the next level, down to nulls, which take no bytes."""
    kind = {"type": "record", "name": "L0", "fields": []}
    for level in range(1, levels):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": f"L{level - 1}"}]
        kind = {"type": "record", "name": f"L{level}", "fields": fields}
    return avro_file(with_field(kind), [(1, _call(b""))] * blocks)


def records_without_fields(field, count, blocks):
    """Lists of records that take no bytes."""
    schema = with_field({"type": "array", "items": {"type": "record", "name": "E", "fields": []}})
    schema["fields"][2]["name"] = field
    return avro_file(schema, [(1, _call(zigzag(count) + zigzag(0)))] * blocks)


def wide_schema(kind, value, blocks=20, fields=20_000):
    schema = with_field("int")
    schema["fields"] += [{"name": f"f{number}", "type": kind} for number in range(fields)]
    return avro_file(schema, [(1, _call(zigzag(0) + value * fields))] * blocks)


def wide_union(branches, values=1_000, blocks=300):
    """Values of one byte each, for which a reader looks at every branch of a union."""
    union = [
        {"type": "record", "name": f"B{number}", "fields": [{"name": "a", "type": "null"}]}
        for number in range(branches)
    ]
    items = b"".join(zigzag(number % branches) for number in range(values))
    record = _call(zigzag(values) + items + zigzag(0))
    return avro_file(with_field({"type": "array", "items": union}), [(1, record)] * blocks)


def footer_of_empty_structs():
    """A row group with eight million columns of one byte each."""
    number = bytes([0x15, 0])  # field 1, in which a struct of the schema has its type
    schema = bytes([0x29, 0x1C]) + number + bytes(1)
    count = 8_000_000
    varint = bytes(count >> shift & 0x7F | 0x80 for shift in (0, 7, 14)) + bytes([count >> 21])
    columns = bytes([0x19, 0xFC]) + varint + bytes(count)
    footer = schema + bytes([0x29, 0x1C]) + columns + bytes(2)
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def wide_table(columns):
    """CSV with a row for a header of so many names."""
    names = ["conversation_id", "iteration", *(f"x{number}" for number in range(columns))]
    return f"{','.join(names)}\nc,1{',1' * columns}\n".encode()


# Schemas whose values are far larger, or take far longer, than their bytes, as `FILES`. Many blocks
# may not help, since each is within the limit of memory.
SCHEMAS = {
    "doubled-40.avro": (lambda: doubled_records(40), "too much memory"),
    "doubled-18.avro": (lambda: doubled_records(18, 50), "too much memory"),
    "empty-records.avro": (
        lambda: records_without_fields("more", 7_000_000, 10),
        "too much memory",
    ),
    "empty-results.avro": (
        lambda: records_without_fields("results", 7_000_000, 1),
        "too much memory",
    ),
    "fewer-empty-results.avro": (
        lambda: records_without_fields("results", 90_000, 100),
        "too much memory",
    ),
    "null-fields.avro": (lambda: wide_schema("null", b""), "too much memory"),
    "text-fields.avro": (lambda: wide_schema("string", zigzag(0)), None),
    "wide-union.avro": (lambda: wide_union(5_000), "a union of 5,000 types; at most 500 are read"),
    "empty-structs.parquet": (footer_of_empty_structs, "it has more than 1,000,000 structs"),
    "wide.csv": (lambda: wide_table(200_000), "the row is longer than 1,048,576 bytes"),
    "less-wide.csv": (lambda: wide_table(140_000), None),
    "less-wide-union.avro": (lambda: wide_union(500, blocks=60), None),
}


# By file name: a function that makes it, and part of the reason of the rejected row (None: read).
FILES = {
    "recursive.avro": (recursive_avro, "nested more than 64 levels"),
    "null-items.avro": (lambda: avro_with_empty_items("null"), "too much memory"),
    "empty-items.avro": (
        lambda: avro_with_empty_items({"type": "record", "name": "Empty", "fields": []}),
        "too much memory",
    ),
    "fixed-items.avro": (
        lambda: avro_with_empty_items({"type": "fixed", "name": "Empty", "size": 0}),
        "too much memory",
    ),
    "first-null-items.avro": (empty_items_of_the_first_record, "too much memory"),
    "cut-null-items.avro": (empty_items_in_a_cut_list, "the data do not fit the schema"),
    "without-fields.avro": (without_fields_avro, "without a list of fields"),
    "nested-600.avro": (lambda: nested_schema(600), "nested more than 64 levels"),
    "nested-20000.avro": (lambda: nested_schema(20_000), "nested too deeply"),
    "wide-header.avro": (wide_map_header, "does not end within 1 MiB"),
    "deflate-bomb.avro": (deflate_bomb, "more than 67,108,864 bytes"),
    # A block is one stream; what follows is not read.
    "bzip2-bomb.avro": (_avro_bomb(b"bzip2", bz2.BZ2Compressor, 100), "bytes remain after"),
    "xz-bomb.avro": (
        _avro_bomb(b"xz", lambda: lzma.LZMACompressor(preset=0), 100),
        "bytes remain after",
    ),
    "xz-window.avro": (wide_xz_window, "Memory usage limit exceeded"),
    "zstandard-bomb.avro": (
        _avro_bomb(b"zstandard", lambda: zstandard.ZstdCompressor().compressobj()),
        "more than 67,108,864 bytes",
    ),
    "zstandard-bomb-with-size.avro": (
        lambda: avro_file(
            with_field("bytes"), [(1, zstandard.compress(bytes(_BOMB)))], b"zstandard"
        ),
        "more than 67,108,864 bytes",
    ),
    "snappy-bomb.avro": (snappy_bomb, "more than 67,108,864 bytes"),
    "small-items.avro": (lambda: many_small_items(b"null", bytes), "too much memory"),
    "dictionary.parquet": (dictionary_bomb, "bytes of text"),
    "attributes.parquet": (attributes_bomb, "bytes of text"),
    "rows.parquet": (rows_bomb, None),
    "row.parquet": (lambda: shared_texts(1, 128), "bytes of text"),
    "few-rows.parquet": (lambda: shared_texts(128, 1), None),
    "nulls.parquet": (null_results, "10,000,000"),
    "nulls-within-the-cap.parquet": (lambda: null_results(4_000_000), "4,000,000 results"),
    "page.parquet": (page_bomb, "bytes at a time"),
    "ids.parquet": (lambda: long_ids(100), "bytes at a time: raise --max-decoded-bytes"),
    "fewer-ids.parquet": (lambda: long_ids(55), None),
    "incremental.parquet": (incremental_bomb, "may expand to"),
    "objects.jsonl.gz": (lambda: line_with_many(b"{}"), "values"),
    "nulls.jsonl.gz": (lambda: line_with_many(b"0", 30), "values"),
    "texts.jsonl.gz": (lambda: line_with_many(b'""', 20), "values"),
    "attributes.jsonl.gz": (many_attributes, "values"),
    "array.json": (array_with_one_record, "values"),
    "endless.jsonl.gz": (endless_line(_gzip), "bytes long"),
    "endless.jsonl.bz2": (endless_line(bz2.BZ2Compressor), None),
    "endless.jsonl.zst": (
        endless_line(lambda: zstandard.ZstdCompressor().compressobj()),
        "bytes long",
    ),
}
