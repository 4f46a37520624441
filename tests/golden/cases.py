"""The option sets whose outputs are recorded, each with its traces and the files it needs."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from goodgain.pipeline.__main__ import main as goodgain
from goodgain.pipeline.results.pool_store import read_pool
from tests.golden import traces
from tests.golden.traces import FORMATS


class Case(Struct, frozen=True):
    """Traces and options of a run.

    Attributes:
      records: makes the records.
      options: options of `goodgain run`, by name as in a configuration.
      files: given a folder and the records, writes the files that options name; returns these.
      content: the bytes of a trace file, given records and a format.
      formats: the formats that can hold the records.
      varies: whether the outputs depend on the format of the traces.
    """

    name: str
    records: Callable[[], list[dict[str, Any]]]
    options: dict[str, Any] = {}
    files: Callable[[Path, list[dict[str, Any]]], dict[str, Any]] = lambda *_: {}
    content: Callable[[list[dict[str, Any]], str], bytes] = traces.encode_file
    formats: tuple[str, ...] = FORMATS
    varies: bool = False


def _documents(records):
    """(record, rank, value) of each value of a named id, in order."""
    for record in records:
        for rank, result in enumerate(record["results"], start=1):
            for value in result["ids"].values():
                yield record, rank, value if isinstance(value, str) else value[0]


def _qrels(folder, records):
    """TREC qrels of half of the documents, by topic, and one of an unknown document."""
    labels = {}
    for number, (record, _, value) in enumerate(_documents(records)):
        if value.strip() and number % 2 == 0:
            labels.setdefault((record["attributes"]["topic"], value.split()[0]), number % 5)
    lines = [f"{topic} 0 {value} {label}" for (topic, value), label in labels.items()]
    return {"qrels": traces.write(folder, "qrels.txt", "\n".join([*lines, "t0 0 unknown 2"]))}


def _labels(folder, records):
    """A label for every third result, an empty one, and one of a result that is not there."""
    columns = ("conversation_id", "turn", "iteration", "call", "rank", "gain")
    file = io.StringIO()
    lines = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    lines.writeheader()
    places = set()
    for number, record in enumerate(records):
        place = tuple(record[name] for name in columns[:4])
        if place in places or not record["results"]:
            continue
        places.add(place)
        gain = "" if number % 7 == 0 else number % 5
        lines.writerow({**record, "rank": 1 + number % len(record["results"]), "gain": gain})
    lines.writerow({**records[0], "rank": 99, "gain": 1})
    return {"labels": traces.write(folder, "labels.csv", file.getvalue())}


def _pool(folder, records):
    """A pool of the traces and of another run, with labels of an annotator."""
    others = traces.single_turns(21)
    paths = {
        name: traces.write(folder, f"{name}.jsonl", traces.encode_file(found, "jsonl"))
        for name, found in (("one", records), ("two", others))
    }
    pool = str(folder / "pool")
    runs = [word for name, path in paths.items() for word in ("--run", f"{name}={path}")]
    words = ["pool", "build", *runs, "--topic", "topic", "--output", pool, "--shards", "1"]
    assert goodgain([*words, "--quiet"]) == 0
    documents = [document.document for document in read_pool(pool).documents()]
    rows = [
        json.dumps({"document": document, "gain": at % 5}) for at, document in enumerate(documents)
    ]
    labels = traces.write(folder, "pool labels.jsonl", "\n".join(rows[::3]))
    assert goodgain(["pool", "label", pool, "--from", labels, "--annotator", "ann", "--quiet"]) == 0
    return {"pool": pool}


def _rename(records, file_format):
    """Records with other names for some fields, and iterations from 0."""
    lines = []
    for record in records:
        line = {**record, "thread": record["conversation_id"], "iteration": record["iteration"] - 1}
        del line["conversation_id"]
        line["results"] = [{**result, "relevance": result["gain"]} for result in record["results"]]
        for result in line["results"]:
            del result["gain"]
        lines.append(line)
    return traces.encode_file(lines, file_format)


CASES = (
    Case("plain", lambda: traces.records(1)),
    Case("details", lambda: traces.records(2), {"per_call": True, "bounds": True, "max_i": 4}),
    Case("slices", lambda: traces.records(3), {"slice": ["arm", "arm,market"], "max_i": 3}),
    Case("clusters", lambda: traces.records(4), {"cluster": "query_id", "interval": "student"}),
    Case(
        "costs",
        lambda: traces.records(5),
        {"cost": ["tokens", "usd"], "budget": ["tokens=100,800", "usd=0.5"], "slice": ["arm"]},
    ),
    Case(
        "qrels", lambda: traces.records(6), {"qrels_topic": "topic", "qrels_id": "file_id"}, _qrels
    ),
    Case("labels", lambda: traces.records(7), {"slice": ["market"], "bounds": True}, _labels),
    Case("pool", lambda: traces.records(8, 6), {"run_name": "one", "bounds": True}, _pool),
    Case(
        "duplicates",
        lambda: traces.records(9, 24),
        {
            "duplicates": "hold_slot",
            "good_gain_threshold": 3,
            "relevance_threshold": 1,
            "metrics": ["ndcg@5", "mrr", "map", "recall@3", "nerr@5", "bpref", "auc"],
        },
    ),
    Case("single turns", lambda: traces.single_turns(10), {"per_call": True}),
    Case("redelivered", lambda: traces.redeliver(11)),
    Case(
        "rejected",
        lambda: traces.with_wrong_values(12),
        {"max_rejected": "100%", "slice": ["market"]},
        content=traces.with_broken_lines,
        varies=True,
    ),
    Case(
        "damaged",
        lambda: traces.records(13, 30),
        {"max_rejected": "100%"},
        content=traces.damage,
        varies=True,
    ),
    Case("unlabelled", lambda: traces.drop_labels(14), {"allow_unlabelled": True, "bounds": True}),
    Case(
        "renamed",
        lambda: traces.records(15),
        {"mapping": ["conversation_id=thread", "gain=relevance"], "iteration_base": 0},
        content=_rename,
        formats=("jsonl",),
    ),
)
