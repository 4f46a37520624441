"""Any number of rejected records takes bounded memory, and all are counted and reported."""

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS
from goodgain.transforms.core.files.shard import DEFAULT_SHARD_BYTES
from tests.core.files.limited import MOST_MEMORY
from tests.forked import command_in_process
from tests.pipeline.runs import manifest, rows, run

GOOD = '{"conversation_id": "good", "iteration": 1}\n'
BAD = '{"conversation_id": "bad", "iteration": 0}\n'


def test_rejected_records_above_the_limit_share_a_row(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(GOOD + "x\n" * 5 + BAD * 3 + "y\n" * 2)
    options = ("--max-rejected=20", "--max-rejected-rows=4", "--allow-unlabelled")
    assert run(tmp_path / "out", [path], *options) == ExitCode.DONE
    *first, last = rows(tmp_path / "out", "rejected")
    assert [row["position"] for row in first] == [f"line {at}" for at in range(2, 6)]
    assert [row["payload"] for row in first] == ["x"] * 4
    assert last["records"] == 6
    assert last["position"] == "line 6 to line 11"
    assert last["reason"].startswith("6 further records are rejected, but only the first 4 of a")
    assert "--max-rejected-rows. The first: Not valid JSON" in last["reason"]
    found = manifest(tmp_path / "out")
    assert (found["records"]["read"], found["records"]["rejected"]) == (11, 10)
    assert found["records"]["balance_holds"]
    assert found["datasets"]["rejected"] == 5
    # Also a record without a row of its own keeps its conversation out of the means.
    assert found["conversations"]["with_rejected_records"] == 1
    report = (tmp_path / "out" / "report.html").read_text()
    assert "<summary>6 records: 6 further records are rejected, but only" in report


@pytest.mark.slow
@pytest.mark.parametrize("line", ["x" * 99, BAD.strip().replace("bad", "b" * 60)])
def test_a_file_with_only_rejected_records_takes_bounded_memory(line, tmp_path):
    path = tmp_path / "in.jsonl"
    size, most_rows = DEFAULT_SHARD_BYTES + 2 * 2**20, 2 * (DEFAULT_BOUNDS.max_rejected_rows + 1)
    count = size // (len(line) + 1)
    assert count > 5 * most_rows
    path.write_text((line + "\n") * count)
    done = command_in_process("run", "--input", path, "--output", tmp_path / "out")
    assert done.returncode == ExitCode.DATA_QUALITY, done.stderr
    assert done.memory < MOST_MEMORY
    found = manifest(tmp_path / "out")
    assert found["records"]["rejected"] == found["records"]["read"] == count
    assert sum(row["records"] for row in rows(tmp_path / "out", "rejected")) == count
    assert found["datasets"]["rejected"] == most_rows  # in two shards
