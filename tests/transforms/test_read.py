"""`ReadTraces` reads each record once for any shard size, and rejects bad input (SPEC 2, 3)."""

import os
import pickle

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.record_encoding import record_encoding
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import Millis, SearchCall
from goodgain.transforms.read import PlanShards, ReadShard, ReadTraces, find_inputs
from tests.core.files import samples

pytestmark = pytest.mark.slow

ROWS = samples.records(120, results=3)
CALLS = [parse_mapping(row) for row in ROWS]


@pytest.fixture
def folder(tmp_path):
    """Records spread over files of every format, with two bad lines and a file that is not Avro."""
    (tmp_path / "a.jsonl").write_bytes(samples.jsonl_bytes(ROWS[:40]) + b"bad\n[]\n")
    (tmp_path / "b.avro").write_bytes(samples.avro_bytes(ROWS[40:80]))
    (tmp_path / "c.parquet").write_bytes(samples.parquet_bytes(ROWS[80:110], group=7))
    (tmp_path / "d.jsonl.gz").write_bytes(samples.COMPRESS[".gz"](samples.jsonl_bytes(ROWS[110:])))
    (tmp_path / "e.avro").write_bytes(b"not avro")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden.jsonl").write_bytes(b"bad")
    (tmp_path / "nested").mkdir()
    (tmp_path / "nested" / "f.jsonl").write_bytes(b"bad")
    return tmp_path


def names(inputs):
    return [os.path.basename(file.path) for file in inputs]


def test_finds_each_file_once_and_sorts_by_path(folder, monkeypatch):
    found = find_inputs([f"{folder}/*.avro", f"{folder}/a.jsonl", f"{folder}/?.*"])
    assert names(found) == ["a.jsonl", "b.avro", "c.parquet", "d.jsonl.gz", "e.avro"]
    assert [file.size for file in found] == [os.path.getsize(file.path) for file in found]
    monkeypatch.chdir(folder)
    assert names(find_inputs(["a.jsonl", "./a.jsonl", f"{folder}/a.jsonl"])) == ["a.jsonl"]


@pytest.mark.parametrize("pattern", ["day*/*.jsonl", "*/a.jsonl", "*/*", "./day*/*"])
def test_the_first_folder_of_a_pattern_may_have_a_wildcard(tmp_path, monkeypatch, pattern):
    (tmp_path / "day 1").mkdir()
    (tmp_path / "day 1" / "a.jsonl").write_text("{}\n")
    monkeypatch.chdir(tmp_path)
    (found,) = find_inputs([pattern])
    assert found.path == ("./" if pattern.startswith("./") else "") + "day 1/a.jsonl"


@pytest.mark.parametrize("end", ["", "/"])
def test_a_directory_is_read_as_its_visible_files(folder, end):
    found = find_inputs([f"{folder}{end}"])
    assert names(found) == ["a.jsonl", "b.avro", "c.parquet", "d.jsonl.gz", "e.avro"]


def test_rejects_a_pattern_without_files_and_names_it(folder):
    for pattern in (f"{folder}/*.orc", f"{folder}/none.jsonl", "nowhere://bucket/x"):
        with pytest.raises(UsageError, match="Input '") as error:
            find_inputs([f"{folder}/a.jsonl", pattern])
        assert pattern in str(error.value)
    with pytest.raises(UsageError, match="No input"):
        find_inputs([])


def file_and_position(rejected):
    return (os.path.basename(rejected.source), rejected.position)


def encoded_record(call):
    """`record_encoding` in a function of this module, since encoders cannot be pickled."""
    return record_encoding(call)


@pytest.mark.parametrize("shard_bytes", [2_000, 1 << 26])
def test_every_record_is_read_once(folder, shard_bytes):
    expected = [record_encoding(call) for call in CALLS]
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        traces = pipeline | ReadTraces([str(folder)], shard_bytes)
        assert traces.calls.element_type is SearchCall
        assert traces.rejected.element_type is RejectedRecord
        encoded = traces.calls | "Encode" >> beam.Map(encoded_record)
        assert_that(encoded, equal_to(expected), label="calls")
        places = traces.rejected | "Places" >> beam.Map(file_and_position)
        bad = [("a.jsonl", "line 41"), ("a.jsonl", "line 42"), ("e.avro", "file")]
        assert_that(places, equal_to(bad), label="rejected")


def test_calls_survive_a_shuffle(folder):
    expected = [record_encoding(call) for call in CALLS]
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        traces = pipeline | ReadTraces(find_inputs([str(folder)]))
        shuffled = traces.calls | "Shuffle calls" >> beam.Reshuffle()
        encoded = shuffled | beam.Map(encoded_record)
        assert_that(encoded, equal_to(expected), label="calls")
        rejected = traces.rejected | "Shuffle rejected" >> beam.Reshuffle()
        assert_that(rejected | beam.Map(lambda row: row.records), equal_to([1, 1, 1]), label="rows")


def test_a_file_that_disappears_becomes_a_rejected_record(folder):
    gone = InputFile(str(folder / "gone.jsonl"), 10)
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        traces = pipeline | ReadTraces([gone])
        assert_that(traces.calls, equal_to([]), label="calls")
        places = traces.rejected | beam.Map(file_and_position)
        assert_that(places, equal_to([("gone.jsonl", "file")]), label="rejected")


def test_dofns_plan_and_read_without_a_pipeline(folder):
    (file,) = find_inputs([str(folder / "a.jsonl")])
    shards = list(PlanShards(1_000).process(file))
    outputs = [output for shard in shards for output in ReadShard().process(shard)]
    tagged = [output for output in outputs if isinstance(output, beam.pvalue.TaggedOutput)]
    assert [output for output in outputs if isinstance(output, SearchCall)] == CALLS[:40]
    assert [(output.tag, output.value.position) for output in tagged] == [
        ("rejected", "line 41"),
        ("rejected", "line 42"),
    ]


def test_rejects_a_shard_size_of_zero():
    with pytest.raises(UsageError, match="shard_bytes must be at least 1"):
        ReadTraces(["a"], shard_bytes=0)


def test_coder_is_lossless_and_deterministic():
    coder = pickle.loads(pickle.dumps(StructCoder(SearchCall)))
    for call in CALLS:
        copy = coder.decode(coder.encode(call))
        assert copy == call
        assert copy.timestamp is None or type(copy.timestamp) is Millis
    one = SearchCall("c", 1, attributes={"a": "1", "b": "2"})
    other = SearchCall("c", 1, attributes={"b": "2", "a": "1"})
    assert coder.encode(one) == coder.encode(other)
    assert coder.is_deterministic()
    assert beam.coders.registry.get_coder(SearchCall) == coder
    assert beam.coders.registry.get_coder(RejectedRecord) == StructCoder(RejectedRecord)
