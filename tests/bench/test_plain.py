"""The plain script computes what a run computes, so that their times can be compared."""

import json
import subprocess
import sys

import fastavro
import pytest

import goodgain as gg
from goodgain.pipeline.sample.writers import write_sample
from goodgain.pipeline.settings.sample_config import SampleConfig


def add_tied_calls(trace):
    """Add two calls to the first conversation that only their digests order."""
    with trace.open("rb") as file:
        reader = fastavro.reader(file)
        records = list(reader)
    alike = {**records[0], "call": None, "timestamp": None, "record_id": None}
    tied = [{**alike, "results": alike["results"][at:]} for at in (0, 1)]
    with trace.open("wb") as file:
        fastavro.writer(file, reader.writer_schema, records + tied)


@pytest.mark.slow
def test_plain_script_and_run_give_equal_means(tmp_path):
    trace = tmp_path / "a.avro"
    write_sample(SampleConfig(conversations=60, bad_share=0.0), str(trace))
    add_tied_calls(trace)
    script = [sys.executable, "-m", "tests.bench.plain", str(trace), str(tmp_path)]
    done = subprocess.run(script, capture_output=True, check=True)
    run = gg.evaluate(str(trace))
    means = {
        row["metric"]: row["mean"]
        for row in run.means
        if (row["i"], row["population"], row["slice"]) == (None, "all", {})
    }
    plain = json.loads(done.stdout)
    assert plain == {metric: means[metric] for metric in plain}
    assert len(plain) > 30
    written = (tmp_path / "conversations.jsonl").read_text().splitlines()
    assert len(written) == len(run.conversations) == 60
