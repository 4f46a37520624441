"""A run with many judgments on a real Flink cluster: workers do not hold them (SPEC 8)."""

import json
from pathlib import Path

import pytest

from goodgain.pipeline.results.finished_run import read_manifest
from tests.engines.cluster import PATIENCE, Cluster
from tests.engines.processes import wait_until

pytestmark = pytest.mark.engines

TOPICS = 1_000
JUDGED = (100, 2_000)  # judged documents per topic
CALLS, RESULTS = 2, 10
LEAST_HELD = 100  # bytes per judgment, if held in memory; the document's name alone takes more


def document(topic: int, number: int) -> str:
    return f"document-{topic:04d}-{number:06d}-with-a-long-name"


def write_judgments(path: Path, judged: int) -> Path:
    with path.open("w") as file:
        for topic in range(TOPICS):
            for number in range(judged):
                file.write(f"topic-{topic:04d} 0 {document(topic, number)} {number % 5}\n")
    return path


def write_traces(path: Path) -> Path:
    with path.open("w") as file:
        for topic in range(TOPICS):
            for call in range(CALLS):
                found = range(call * RESULTS, (call + 1) * RESULTS)
                record = {
                    "conversation_id": f"topic-{topic:04d}",
                    "iteration": call + 1,
                    "results": [{"ids": {"doc_id": document(topic, number)}} for number in found],
                }
                file.write(json.dumps(record) + "\n")
    return path


def peak_memory_of_workers(cluster: Cluster) -> int:
    """The largest peak memory of the running processes of the worker pool, in bytes."""
    pool, peak = cluster.worker_pool.pid(), 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # After the program's name, which may contain anything: state, parent, group, session.
            session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
            status = (folder / "status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if session == pool and "VmHWM:" in status:
            peak = max(peak, int(status.partition("VmHWM:")[2].split()[0]) * 1024)
    return peak


def peak_of_run(cluster: Cluster, traces: Path, judgments: Path, output: Path) -> int:
    """The peak memory of a worker while the judgments were joined, in bytes."""
    arguments = ["--input", str(traces), "--qrels", str(judgments), "--output", str(output)]
    job = cluster.submit("goodgain", "run", *arguments, folder=output.parent)
    peaks = [0]

    def has_ended() -> bool:
        peaks.append(peak_memory_of_workers(cluster))
        return job.client.poll() is not None

    wait_until(has_ended, PATIENCE, f"the end of {job.name}")
    job.wait_until_done()
    return max(peaks)


def test_memory_of_workers_does_not_grow_with_judgments(cluster: Cluster, tmp_path: Path) -> None:
    traces = write_traces(tmp_path / "traces.jsonl")
    peaks = []
    for judged in JUDGED:
        judgments = write_judgments(tmp_path / f"{judged}.txt", judged)
        output = tmp_path / f"out-{judged}"
        peaks.append(peak_of_run(cluster, traces, judgments, output))
        manifest = read_manifest(str(output))
        joined = TOPICS * CALLS * RESULTS
        assert manifest["qrels"]["judgments"] == TOPICS * judged
        assert manifest["qrels"]["never_retrieved"] == TOPICS * judged - joined
        assert manifest["qrels"]["results_without_judgment"] == 0
        assert manifest["results"]["good"] == joined * 3 // 5
    more = TOPICS * (JUDGED[1] - JUDGED[0])
    assert peaks[1] - peaks[0] < more * LEAST_HELD, peaks
