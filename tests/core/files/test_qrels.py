"""Judgments are the same from every format; problems are reported with their place."""

import bz2
import gzip
import io

import msgspec
import pyarrow as pa
import pytest
import zstandard

from goodgain.transforms.core.files.qrels import read_qrels
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.judgments.judgment import QrelsProblem
from tests.core.files import samples

ROWS = [
    {"topic": f"t{number % 7}", "document_id": f"d-{number} ü".replace(" ", ""), "gain": number % 5}
    for number in range(500)
]
TREC = "".join(f"{row['topic']} 0 {row['document_id']} {row['gain']}\n" for row in ROWS).encode()
JSONL = samples.jsonl_bytes(ROWS)


def avro(rows, gain="int"):
    schema = samples.avro_record("Judgment", topic="string", document_id="string", gain=gain)
    return samples.avro_bytes(rows, "null", schema, block=400)


def parquet(rows):
    return samples.table_bytes(pa.Table.from_pylist(rows), group=90)


def read(content, name="qrels.txt", shard_bytes=2**20):
    def open_content(_):
        return io.BytesIO(content)

    shards = plan_shards(open_content(name), name, len(content), shard_bytes, of_traces=False)
    return [found for shard in shards for found in read_qrels(shard, 0, open_content)]


def triples(found):
    return [(judgment.topic, judgment.document, judgment.gain) for judgment in found]


EXPECTED = [(row["topic"], row["document_id"], row["gain"]) for row in ROWS]


@pytest.mark.parametrize(
    "content",
    [
        TREC,
        b"\xef\xbb\xbf" + TREC,
        TREC.replace(b"\n", b"\r\n"),
        TREC.replace(b" ", b"\t  ") + b"\n\n",
        JSONL,
        gzip.compress(TREC),
        bz2.compress(TREC),
        zstandard.ZstdCompressor().compress(JSONL),
        avro(ROWS),
        parquet(ROWS),
    ],
    ids=["trec", "bom", "crlf", "tabs", "jsonl", "gzip", "bzip2", "zstandard", "avro", "parquet"],
)
@pytest.mark.parametrize("shard_bytes", [2**20, 333])
def test_every_format_gives_the_same_judgments(content, shard_bytes):
    assert triples(read(content, shard_bytes=shard_bytes)) == EXPECTED


@pytest.mark.parametrize(
    "row",
    [
        {"conversation_id": "c", "doc_id": "d", "label": 2},
        {"query_id": "c", "docid": " d ", "relevance": 2.0},
        {"topic": "c", "docno": "d", "gain": "2", "comment": [1]},
    ],
)
def test_columns_may_have_other_names(row):
    assert triples(read(msgspec.json.encode(row))) == [("c", "d", 2)]


def test_a_topic_may_be_a_number():
    assert triples(read(parquet([{"topic": 301, "document_id": "d", "gain": 1}]))) == [
        ("301", "d", 1)
    ]


BEIR = [
    {"query-id": row["topic"], "corpus-id": row["document_id"], "score": row["gain"]}
    for row in ROWS
]
BEIR_TSV = (
    b"query-id\tcorpus-id\tscore\n"
    + "".join(f"{row['topic']}\t{row['document_id']}\t{row['gain']}\n" for row in ROWS).encode()
)


def csv(delimiter=",", names=("topic", "document_id", "gain")):
    lines = [delimiter.join(names), *(delimiter.join(map(str, row.values())) for row in ROWS)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    "content",
    [
        BEIR_TSV,
        BEIR_TSV.replace(b"\n", b"\r\n"),
        BEIR_TSV.split(b"\n", 1)[1],
        gzip.compress(BEIR_TSV),
        b"".join(msgspec.json.encode(row) + b"\n" for row in BEIR),
        parquet(BEIR),
        csv(),
        csv("\t"),
        csv(";", ("query_id", "docno", "relevance")),
        csv(names=("query-id", "corpus-id", "score")),
        b"\xef\xbb\xbf" + csv(),
        gzip.compress(csv()),
    ],
)
@pytest.mark.parametrize("shard_bytes", [200, 2**20])
def test_judgments_of_beir_and_of_tables_with_names(content, shard_bytes):
    assert triples(read(content, shard_bytes=shard_bytes)) == EXPECTED


def test_a_score_is_a_label_only_beside_a_document_of_beir():
    found = read(b'{"topic": "t", "doc_id": "d", "score": 3}')
    assert "no gain" in found[-1].text


def test_the_place_in_a_csv_is_the_line():
    *_, problem = read(csv().replace(b"d-7", b"d-7,x"))
    assert problem.place.inside == "line 9"


@pytest.mark.parametrize("label", [b"-1", b"-2"])
def test_a_negative_label_means_not_judged(label):
    assert triples(read(b"t 0 d " + label)) == [("t", "d", None)]


def test_null_means_not_judged():
    assert triples(read(b'{"topic": "t", "doc_id": "d", "gain": null}')) == [("t", "d", None)]


@pytest.mark.parametrize("name", ["0A1B2C3D-0000-4000-8000-00000000000F", "Ann@Example.com"])
def test_document_ids_are_not_normalised(name):
    assert triples(read(f"t 0 {name} 1".encode())) == [("t", name, 1)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"t 0 d", "this one has 3"),
        (b"a,b,3", "this one has 1 field. The first line of a table names its columns"),
        (b"t 0 d 1 more", "this one has 5"),
        (b"t 0 d 5", "The label is 5"),
        (b"t 0 d high", "The label is 'high'"),
        (b"t 0 d 1.5", "The label is '1.5'"),
        (b"t 0 d\xff 1", "UTF-8"),
        (b'{"topic": "t", "doc_id": "d"}', "no gain"),
        (b'{"topic": "t", "gain": 1}', "no document_id"),
        (b'{"topic": "", "doc_id": "d", "gain": 1}', "topic is empty"),
        (b'{"topic": "t", "doc_id": " ", "gain": 1}', "document is empty"),
        (b'{"topic": "t", "doc_id": "d", "gain": true}', "must be a whole number"),
        (b'{"topic": "t", "doc_id": ["d"], "gain": 1}', "must be text"),
        (b'{"topic"', "neither UTF-8 text nor a JSON object"),
    ],
)
def test_an_invalid_line_ends_the_shard(line, message):
    before = b"t 0 first 1\n\n"
    first, problem = read(before + line + b"\nt 0 later 1\n")
    assert first.document == "first"
    assert isinstance(problem, QrelsProblem)
    assert message in problem.text
    assert problem.place.at == len(before)


def test_the_place_in_a_compressed_file_is_the_line():
    *_, problem = read(gzip.compress(b"t 0 d 1\nt 0 e 9\n"))
    assert problem.place.inside == "line 2"


def test_the_place_in_a_table_is_the_row():
    rows = [*ROWS[:100], {"topic": "t", "document_id": "d", "gain": 7}]
    *_, problem = read(parquet(rows))
    assert problem.place.inside == "row group 1, row 10"
    *_, problem = read(avro(rows))
    assert problem.place.inside.startswith("block at byte ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(avro(ROWS)), "decompress it first"),
        (parquet(ROWS)[:-20], "Parquet"),
        (avro(ROWS)[:60], "Avro"),
        (gzip.compress(TREC)[:200], "cannot be read from here on"),
        (parquet([{"a": 1}]), "The row has no topic"),
        (b"PK\x03\x04....", "zip"),
    ],
)
def test_an_unusable_file_is_a_problem(content, message):
    problem = read(content)[-1]
    assert isinstance(problem, QrelsProblem)
    assert message in problem.text
