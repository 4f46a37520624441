"""Single-bit flips of the headers of small files, each read within limits of time and memory.

`make fuzz` reads all of them, on all cores; the tests read a sample. Command-line arguments are
names of files; default: all files.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.core.files import limited, samples

ROWS = samples.records(12, results=2)
_GZIP_HEADER = 40  # bytes; includes the first data
_FLIPS_PER_PROCESS = 1000  # bisection then finds a flip that crashes
_SECONDS = 120


def _avro(codec):
    content = samples.avro_bytes(ROWS, codec, block=400)
    first = samples.markers(content)[0] + len(samples.SYNC)
    return content, range(first + 8)  # including the two numbers at the start of the first block


def _parquet(codec):
    content = samples.parquet_bytes(ROWS, codec, group=6)
    footer = int.from_bytes(content[-8:-4], "little") + 8
    return content, range(len(content) - footer, len(content))


def _parquet_pages():
    content = samples.parquet_bytes(ROWS, "none", group=6)
    return content, range(4, 600)


def _gzip(name, inner):
    content = samples.COMPRESS[".gz"](inner)
    return content, range(min(_GZIP_HEADER, len(content)))


# By file name: the content, and the bytes whose bits are flipped.
TARGETS = {
    "null.avro": _avro("null"),
    "deflate.avro": _avro("deflate"),
    "a.parquet": _parquet("snappy"),
    "pages.parquet": _parquet_pages(),
    "a.jsonl.gz": _gzip("a.jsonl.gz", samples.jsonl_bytes(ROWS)),
    "a.avro.gz": _gzip("a.avro.gz", samples.avro_bytes(ROWS, "null")),
}


def flips(name):
    """How many files differ from this one in a single bit of the header."""
    return 8 * len(TARGETS[name][1])


def flipped(name, number):
    """The content with bit `number` of the header flipped."""
    content, places = TARGETS[name]
    changed = bytearray(content)
    changed[places[number // 8]] ^= 1 << number % 8
    return bytes(changed)


def fuzz(name, numbers):
    """Read flipped files; return the numbers of those that crash or break a guarantee."""
    parts = [
        numbers[at : at + _FLIPS_PER_PROCESS] for at in range(0, len(numbers), _FLIPS_PER_PROCESS)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as threads:  # each thread waits for one process
        return [bad for found in threads.map(lambda part: _bad(name, part), parts) for bad in found]


def _bad(name, numbers):
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, "--flips", name, json.dumps(list(numbers))],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return json.loads(done.stdout)
    if len(numbers) == 1:
        return list(numbers)
    half = len(numbers) // 2
    return _bad(name, numbers[:half]) + _bad(name, numbers[half:])


def _keeps_guarantees(path):
    """Whether counts and memory stay within bounds, and every reason is a full sentence."""
    outcome = limited.read(path)
    return (
        outcome["calls"] + outcome["lost"] <= 2 * len(ROWS)
        and outcome["memory"] < limited.MOST_MEMORY
        and all(reason.endswith(".") for reason in outcome["reasons"])
    )


def _some_flips(name, numbers):
    limited.limit(_SECONDS)
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        for number in json.loads(numbers):
            path.write_bytes(flipped(name, number))
            if not _keeps_guarantees(str(path)):
                bad.append(number)
    sys.stdout.write(json.dumps(bad))


def _all_flips(names):
    bad = 0
    for name in names:
        numbers = fuzz(name, range(flips(name)))
        bad += len(numbers)
        sys.stdout.write(f"{name}: {flips(name):,} flips, {len(numbers)} bad {numbers[:20]}\n")
        sys.stdout.flush()
    sys.exit(bad > 0)


def sample(name, count=30):
    """Numbers of `count` random flips, the same on every run."""
    return sorted(random.Random(name).sample(range(flips(name)), count))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--flips"]:
        _some_flips(*sys.argv[2:])
    else:
        _all_flips(sys.argv[1:] or TARGETS)
