"""Builds pools from generated runs with the command, for its tests."""

import json
from random import Random

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.pool_store import read_pool
from tests.core.pool.generated import runs


def some_runs(least=3, seed=0):
    """Generated runs: at least `least` of them."""
    while True:
        found = runs(Random(seed), 3)
        if len(found) >= least and sum(map(len, found.values())) > 10:
            return found
        seed += 1


def write_runs(folder, found):
    """Write a trace file for each run; return the paths by run."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, records in found.items():
        paths[name] = folder / f"{name}.jsonl"
        paths[name].write_text("".join(json.dumps(record) + "\n" for record in records))
    return paths


def build(pool, paths, *options):
    """Run `goodgain pool build` and return its exit code."""
    named = [word for name, path in paths.items() for word in ("--run", f"{name}={path}")]
    output = () if "--update" in options else ("--output", str(pool))
    return main(["pool", "build", *named, *output, *options])


def documents(pool):
    return list(read_pool(str(pool)).documents())


def files(pool):
    """The bytes of the files of documents, by name."""
    folder = pool / read_pool(str(pool)).manifest.documents
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
