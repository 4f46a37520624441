"""Read files in a separate process with limits of time and memory.

As a program it reads the files named as arguments and prints the outcome of each as a JSON line.
"""

import json
import os
import resource
import subprocess
import sys
from dataclasses import dataclass

MEBIBYTE = 2**20
MOST_MEMORY = 1000 * MEBIBYTE
_ADDRESS_SPACE = 4000 * MEBIBYTE  # so that a decompression bomb ends only this process
_SECONDS = 60


@dataclass(frozen=True)
class Outcome:
    """The result of reading a file.

    Attributes:
      calls: number of usable records.
      reasons: reasons of rejected rows.
      lost: number of records that these rows count.
      memory: peak memory of the process so far, in bytes.
    """

    calls: int
    reasons: list[str]
    lost: int
    memory: int


def read_limited(paths, seconds=_SECONDS):
    """The outcome of each file, read one after another in one process."""
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(seconds), *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-2000:]}"
    return [Outcome(**json.loads(line)) for line in done.stdout.splitlines()]


def read(path):
    """The fields of an `Outcome`."""
    from goodgain.pipeline.run.plan.local_files import open_local
    from goodgain.transforms.core.files.first_records import first_records
    from goodgain.transforms.core.files.shard_plan import plan_shards
    from goodgain.transforms.core.files.shard_reader import read_shard
    from goodgain.transforms.core.records.search_call import SearchCall

    calls = lost = 0
    reasons = []
    with open(path, "rb") as file:
        shards = plan_shards(file, path, os.path.getsize(path))
        first_records(file, shards[0])  # as a run does before it starts
    for shard in shards:
        for record in read_shard(shard, open_local):
            if isinstance(record, SearchCall):
                calls += 1
            else:
                reasons.append(record.reason)
                lost += record.records
    # Not `ru_maxrss`, which includes the parent's memory when this process started.
    with open("/proc/self/status", encoding="ascii") as status:
        (held,) = (line.split()[1] for line in status if line.startswith("VmHWM:"))
    memory = int(held) * 1024
    return {"calls": calls, "reasons": reasons[:20], "lost": lost, "memory": memory}


def limit(seconds):
    """Limit the memory and CPU time of this process, which ends it when exceeded."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _main(seconds, *paths):
    limit(int(seconds))
    for path in paths:
        sys.stdout.write(json.dumps(read(path)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main(*sys.argv[1:])
