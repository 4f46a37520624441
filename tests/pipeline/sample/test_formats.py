"""The same sample in every format and codec."""

import bz2
import gzip
import json

import pyarrow.parquet
import pytest
import zstandard

from goodgain.pipeline.results.trace_files import trace_schema
from goodgain.pipeline.sample.conversations import sample_records
from goodgain.pipeline.sample.writers import write_sample
from tests.pipeline.sample.reading import (
    SMALL,
    avro_records,
    comparable,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def expected():
    return [comparable(record) for record in sample_records(SMALL)]


class TestFormats:
    def test_avro_has_the_sampled_records(self, tmp_path, expected):
        path = str(tmp_path / "sample.avro")
        written = write_sample(SMALL, path)
        assert [comparable(record) for record in avro_records(path)] == expected
        assert written.records == len(expected)
        assert written.size == (tmp_path / "sample.avro").stat().st_size

    def test_parquet_has_the_sampled_records(self, tmp_path, expected):
        path = str(tmp_path / "sample.parquet")
        write_sample(SMALL, path)
        rows = pyarrow.parquet.read_table(path).to_pylist()
        assert [comparable(record) for record in rows] == expected

    @pytest.mark.parametrize(
        ("suffix", "unpack"),
        [
            ("", bytes),
            (".gz", gzip.decompress),
            (".bz2", bz2.decompress),
            (
                ".zst",
                lambda content: zstandard.ZstdDecompressor().decompressobj().decompress(content),
            ),
        ],
    )
    def test_jsonl_has_the_sampled_records_and_broken_lines(
        self, tmp_path, expected, suffix, unpack
    ):
        path = tmp_path / f"sample.jsonl{suffix}"
        written = write_sample(SMALL, str(path))
        found, broken = [], []
        for line in unpack(path.read_bytes()).splitlines():
            try:
                found.append(comparable(json.loads(line.decode())))
            except ValueError as error:
                broken.append(type(error))
        assert found == expected
        assert len(broken) == written.broken_lines
        assert set(broken) == {UnicodeDecodeError, json.JSONDecodeError}

    def test_the_schema_documents_every_field(self):
        schema = trace_schema()
        results = next(field for field in schema["fields"] if field["name"] == "results")
        for field in schema["fields"] + results["type"]["items"]["fields"]:
            assert field["doc"]
            assert "default" in field or field["name"] in ("conversation_id", "iteration")
