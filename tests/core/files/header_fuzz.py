"""Single-bit flips of the headers of small files, each read within limits of time and memory.

A flip in the header of a page of Parquet must also give the same rows, or rejected ones, but never
other rows (see `page_layouts`). `make fuzz` reads all flips, on all cores; the tests read a sample.
Command-line arguments are names of files; default: all files, which takes 25 minutes of CPU.
"""

import json
import os
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.core.files import limited, samples
from tests.core.files.page_layouts import LAYOUTS, fault, header_places
from tests.forked import in_process

ROWS = samples.records(12, results=2)
_GZIP_HEADER = 40  # bytes; includes the first data
_FLIPS_PER_PROCESS = 1000  # bisection then finds a flip that crashes
_SECONDS_PER_PROCESS = 120


def _avro(codec):
    content = samples.avro_bytes(ROWS, codec, block=400)
    first = samples.markers(content)[0] + len(samples.SYNC)
    return content, range(first + 8)  # including the two numbers at the start of the first block


def _parquet(codec):
    content = samples.parquet_bytes(ROWS, codec, group=6)
    footer = int.from_bytes(content[-8:-4], "little") + 8
    return content, range(len(content) - footer, len(content))


def _gzip(name, inner):
    content = samples.COMPRESS[".gz"](inner)
    return content, range(min(_GZIP_HEADER, len(content)))


# By file name: the content, and the bytes whose bits are flipped.
TARGETS = {
    "null.avro": _avro("null"),
    "deflate.avro": _avro("deflate"),
    "a.parquet": _parquet("snappy"),
    "a.jsonl.gz": _gzip("a.jsonl.gz", samples.jsonl_bytes(ROWS)),
    "a.avro.gz": _gzip("a.avro.gz", samples.avro_bytes(ROWS, "null")),
    **{name: (content, header_places(content)) for name, content in LAYOUTS.items()},
}


def flips(name):
    """How many files differ from this one in a single bit of the header."""
    return 8 * len(TARGETS[name][1])


def flip(name, number):
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
    done = in_process(
        _print_bad, name, numbers, memory=limited.ADDRESS_SPACE, seconds=_SECONDS_PER_PROCESS
    )
    if done.returncode == 0 and done.memory < limited.MOST_MEMORY:
        return json.loads(done.stdout)
    if len(numbers) == 1:
        return list(numbers)
    half = len(numbers) // 2
    return _bad(name, numbers[:half]) + _bad(name, numbers[half:])


def _print_bad(name, numbers):
    keeps_guarantees = _layout_keeps_guarantees if name in LAYOUTS else _keeps_guarantees
    bad = [number for number in numbers if not keeps_guarantees(name, flip(name, number))]
    sys.stdout.write(json.dumps(bad))


def _layout_keeps_guarantees(name, content):
    return not fault(name, content)


def _keeps_guarantees(name, content):
    """Whether counts stay within bounds, and every reason is a full sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        outcome = limited.read(path)
    return outcome["calls"] + outcome["lost"] <= 2 * len(ROWS) and all(
        reason.endswith(".") for reason in outcome["reasons"]
    )


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
    _all_flips(sys.argv[1:] or TARGETS)
