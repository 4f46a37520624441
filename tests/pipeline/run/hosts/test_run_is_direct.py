"""The pipeline writes the rows that are computed without Beam, however Beam runs it."""

from random import Random

import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from msgspec.structs import replace

import goodgain.pipeline.run.hosts.conversations
from goodgain.pipeline.run.engines import runners
from goodgain.pipeline.run.engines.table import ENGINES
from goodgain.pipeline.sample.writers import write_sample
from goodgain.pipeline.settings.sample_config import SampleConfig
from goodgain.transforms.core.means import distribution
from goodgain.transforms.core.native import SWITCH
from goodgain.transforms.core.scoring import packing
from tests.adversarial import trace
from tests.native.paths import count_folds
from tests.pipeline.runs import (
    FULL,
    MEANS,
    assert_is_direct,
    contents,
    manifest,
    names_in,
    native_folds,
    rows,
    run,
    write_jsonl,
)

pytestmark = pytest.mark.slow

read_in_both_ways = pytest.mark.usefixtures("reading")

LOOPBACK = ("--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=LOOPBACK")


@pytest.fixture(scope="module")
def records():
    return trace(Random(31), conversations=40)


@pytest.fixture(scope="module")
def traces(records, tmp_path_factory):
    return write_jsonl(tmp_path_factory.mktemp("in") / "traces.jsonl", records)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Generated traces with costs, and with records that are rejected."""
    path = str(tmp_path_factory.mktemp("sample") / "sample.avro")
    write_sample(SampleConfig(conversations=15, results=10, bad_share=0.05), path)
    return path


@pytest.fixture(scope="module")
def in_process(traces, sample, tmp_path_factory):
    """The output of a run over both traces in one process, with which other runs are compared."""
    output = tmp_path_factory.mktemp("run") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(SWITCH, raising=False)
        assert run(output, [traces, sample], *FULL) == 0
    return output


def test_run_in_process_equals_direct_computation(in_process, traces, sample):
    assert_is_direct(in_process, [traces, sample])
    records = manifest(in_process)["records"]
    outcomes = ("scored", "earlier_turn", "redelivered", "rejected")
    assert records["read"] == sum(records[name] for name in outcomes)
    assert min(records[name] for name in outcomes) > 0


@read_in_both_ways
def test_run_without_details_equals_direct_computation(traces, sample, tmp_path, monkeypatch):
    """Only such a run is folded by native code."""
    folds = count_folds(monkeypatch)
    assert run(tmp_path / "out", [traces, sample], *MEANS) == 0
    assert folds == native_folds(tmp_path / "out")
    assert_is_direct(tmp_path / "out", [traces, sample], details=False)


def test_reading_in_python_changes_no_byte(in_process, traces, sample, tmp_path, monkeypatch):
    """Direct computation in Python agrees, too."""
    monkeypatch.setenv(SWITCH, "0")
    assert run(tmp_path / "out", [traces, sample], *FULL) == 0
    assert contents(tmp_path / "out") == contents(in_process)
    assert_is_direct(tmp_path / "out", [traces, sample])


def test_portable_runner_changes_no_byte(in_process, traces, sample, tmp_path):
    assert run(tmp_path / "out", [traces, sample], *FULL, *LOOPBACK) == 0
    assert contents(tmp_path / "out") == contents(in_process)


@read_in_both_ways
def test_a_payload_for_each_call_changes_no_byte(in_process, traces, sample, tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "MOST_BUFFERED_RESULTS", 0)
    assert run(tmp_path / "out", [traces, sample], *FULL) == 0
    assert contents(tmp_path / "out") == contents(in_process)


def test_grouping_conversations_changes_no_byte(in_process, traces, sample, tmp_path, monkeypatch):
    """Only the local engine keeps them in state."""
    grouping = replace(ENGINES["FnApiRunner"], in_memory=False)
    monkeypatch.setitem(ENGINES, "FnApiRunner", grouping)
    assert run(tmp_path / "out", [traces, sample], *FULL) == 0
    assert contents(tmp_path / "out") == contents(in_process)


@read_in_both_ways
def test_small_shards_change_no_byte(in_process, traces, sample, tmp_path, monkeypatch):
    monkeypatch.setattr(goodgain.pipeline.run.hosts.conversations, "DEFAULT_SHARD_BYTES", 3_000)
    assert run(tmp_path / "out", [traces, sample], *FULL) == 0
    assert contents(tmp_path / "out") == contents(in_process)


def test_repeated_bundles_change_no_byte(in_process, traces, sample, tmp_path, monkeypatch):
    """Engines may retry a bundle; the files of the first attempt must not remain."""
    monkeypatch.setattr(runners, "_fn_api_runner", lambda: FnApiRunner(bundle_repeat=1))
    assert run(tmp_path / "out", [traces, sample], *FULL) == 0
    assert contents(tmp_path / "out") == contents(in_process)


@read_in_both_ways
@pytest.mark.parametrize(
    ("reading", "seed"), [("as built", 1), ("python", 2)], indirect=["reading"]
)
def test_records_shuffled_over_files_change_no_byte(seed, records, in_process, sample, tmp_path):
    random = Random(seed)
    shuffled = random.sample(records, len(records))
    paths = [write_jsonl(tmp_path / f"{part}.jsonl", shuffled[part::5]) for part in range(5)]
    assert run(tmp_path / "out", [*paths, sample], *FULL) == 0
    assert contents(tmp_path / "out") == contents(in_process)


def test_shards_partition_the_rows(in_process, traces, sample, tmp_path):
    assert run(tmp_path / "out", [traces, sample], *FULL, "--shards=4") == 0
    keys = {
        "conversations": ("conversation_id",),
        "iterations": ("conversation_id", "i"),
        "rejected": ("source", "position"),
    }
    for dataset in ("iterations", "conversations", "calls", "duplicates", "rejected"):
        for output, shards in ((in_process, 1), (tmp_path / "out", 4)):
            assert names_in(output / dataset) == [
                f"part-{shard:05d}-of-{shards:05d}.parquet" for shard in range(shards)
            ]
        found = rows(tmp_path / "out", dataset)
        key = keys.get(dataset, ("conversation_id", "i", "call_position"))
        found.sort(key=lambda row: [row[name] for name in key])
        assert found == rows(in_process, dataset)
    for dataset in ("means", "late"):
        same = contents(tmp_path / "out" / dataset)
        assert same == contents(in_process / dataset)
        assert len(same) == 1


def test_means_over_many_conversations_do_not_depend_on_order(tmp_path, monkeypatch):
    """There are more distinct values than are kept, so that quantiles come from merged bins."""
    merged = []
    merge = distribution.Binned.merge
    monkeypatch.setattr(distribution, "MOST_DISTINCT", 16)
    monkeypatch.setattr(
        distribution.Binned, "merge", lambda *both: merged.append(both) or merge(*both)
    )
    random = Random(4)
    many = [
        {
            "conversation_id": f"c{number}",
            "iteration": 1 + number % 3,
            "attributes": {"arm": random.choice("ab")},
            "results": [{"gain": random.randint(0, 4)} for _ in range(random.randint(0, 4))],
        }
        for number in range(2_500)
    ]
    path = write_jsonl(tmp_path / "in.jsonl", many)
    assert run(tmp_path / "one", [path], *FULL) == 0
    random.shuffle(many)
    parts = [write_jsonl(tmp_path / f"{part}.jsonl", many[part::3]) for part in range(3)]
    merged.clear()
    assert run(tmp_path / "parts", parts, *FULL, *LOOPBACK) == 0
    assert merged
    assert contents(tmp_path / "one" / "means") == contents(tmp_path / "parts" / "means")
    assert {row["n"] for row in rows(tmp_path / "one", "means") if not row["slice"]} >= {2_500}
