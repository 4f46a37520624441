"""Read a file in a separate process with limits of time and memory."""

import json
import os
from dataclasses import dataclass

from goodgain.pipeline.inputs.local_files import open_local
from goodgain.transforms.core.files.first_records import first_records
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.files.shard_reader import read_shard
from goodgain.transforms.core.records.search_call import SearchCall
from tests.forked import in_process

MEBIBYTE = 2**20
MOST_MEMORY = 1000 * MEBIBYTE
ADDRESS_SPACE = 4000 * MEBIBYTE  # so that a decompression bomb ends only this process
_SECONDS = 60


@dataclass(frozen=True)
class Outcome:
    """The result of reading a file.

    Attributes:
      calls: number of usable records.
      reasons: reasons of rejected rows.
      lost: number of records that these rows count.
      memory: the most memory that the process held, in bytes.
    """

    calls: int
    reasons: list[str]
    lost: int
    memory: int


def read_limited(path, seconds=_SECONDS):
    done = in_process(_print_outcome, path, memory=ADDRESS_SPACE, seconds=seconds)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-2000:]}"
    return Outcome(**json.loads(done.stdout), memory=done.memory)


def _print_outcome(path):
    print(json.dumps(read(path)))  # noqa: T201


def read(path):
    """The fields of an `Outcome` but its memory, from this process."""
    calls = lost = 0
    reasons = []
    with open(path, "rb") as file:
        shards = plan_shards(file, str(path), os.path.getsize(path))
        first_records(file, shards[0])  # as a run does before it starts
    for shard in shards:
        for record in read_shard(shard, open_local):
            if isinstance(record, SearchCall):
                calls += 1
            else:
                reasons.append(record.reason)
                lost += record.records
    return {"calls": calls, "reasons": reasons[:20], "lost": lost}
