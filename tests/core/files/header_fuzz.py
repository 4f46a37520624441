"""Single-bit flips of the headers of small files, each read within limits of time and memory.

A flip in the header of a page of Parquet must also give the same rows, or rejected ones, but never
other rows. `make fuzz` reads all flips, on all cores; the tests read a sample. Command-line
arguments are names of files; default: all files.
"""

import io
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from goodgain.transforms.core.records.parsing import parse_mapping
from tests.core.files import limited, samples

ROWS = samples.records(12, results=2)
CALLS = list(map(parse_mapping, ROWS))
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


def _parquet_pages(**options):
    """Small pages, so that each column has several of them; the bits are those of their headers."""
    table = pa.Table.from_pylist(samples.parquet_rows(ROWS), samples.parquet_schema())
    file = io.BytesIO()
    small = {"row_group_size": 6, "data_page_size": 20, "write_batch_size": 2}
    pq.write_table(table, file, **small, **options)
    content = file.getvalue()
    places = [place for begin, end in samples.page_headers(content) for place in range(begin, end)]
    return content, places


def _gzip(name, inner):
    content = samples.COMPRESS[".gz"](inner)
    return content, range(min(_GZIP_HEADER, len(content)))


# By file name: the content, and the bytes whose bits are flipped.
TARGETS = {
    "null.avro": _avro("null"),
    "deflate.avro": _avro("deflate"),
    "a.parquet": _parquet("snappy"),
    "plain pages.parquet": _parquet_pages(compression="none", use_dictionary=False),
    "pages.parquet": _parquet_pages(compression="snappy", write_page_checksum=True),
    "plain v2 pages.parquet": _parquet_pages(
        compression="none", use_dictionary=False, data_page_version="2.0", write_statistics=False
    ),
    "v2 pages.parquet": _parquet_pages(compression="zstd", data_page_version="2.0"),
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


def has_no_other_rows(content, expected):
    """Whether a damaged Parquet file gives the expected calls; fewer only beside rejected rows."""
    found = samples.read(content, "a.parquet")
    calls = samples.calls(found)
    rest = iter(expected)
    in_order = all(call in rest for call in calls)  # each is looked for after the one before
    lost = sum(one.records for one in samples.rejected(found))
    return in_order and (calls == expected or lost > 0) and len(calls) + lost <= len(expected)


def _some_flips(name, numbers):
    limited.limit(_SECONDS)
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        for number in json.loads(numbers):
            content = flipped(name, number)
            path.write_bytes(content)
            rows_are_right = "pages" not in name or has_no_other_rows(content, CALLS)
            if not (_keeps_guarantees(str(path)) and rows_are_right):
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


def sample(name, count=15):
    """Numbers of `count` random flips, the same on every run."""
    return sorted(random.Random(name).sample(range(flips(name)), count))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--flips"]:
        _some_flips(*sys.argv[2:])
    else:
        _all_flips(sys.argv[1:] or TARGETS)
