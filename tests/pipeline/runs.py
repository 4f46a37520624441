"""Runs the whole pipeline in tests, and computes the same numbers without Beam."""

import json
from collections import Counter, defaultdict
from importlib.resources import files
from pathlib import Path

from msgspec.structs import asdict, replace

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.inputs.local_files import find_local_files, read_files
from goodgain.pipeline.results.finished_run import read_dataset, read_manifest
from goodgain.pipeline.results.folder import MANIFEST, REPORT, manifest_json
from goodgain.pipeline.results.rows import call_rows, conversation_rows, iteration_rows
from goodgain.transforms.core.config_text import load_rules
from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.metrics.costs import COSTS
from goodgain.transforms.core.native import native_module
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SEARCH
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.scoring.settings import Scoring

SAMPLE = str(files("goodgain.configs").joinpath("data/sample.avro"))
SESSIONS = str(files("goodgain.configs").joinpath("data/trec_session_2013.jsonl.gz"))
# The last iteration with means, which take half the time of a run. Some conversations end before it
# and some continue after it.
MAX_I = 4
MEANS = (f"--max-i={MAX_I}", "--slice", "arm", "--slice", "arm,market")
# Options to write every dataset; the direct computation below assumes them.
FULL = ("--write-duplicates", "--per-call", "--bounds", *MEANS)
SLICES = ((), ("arm",), ("arm", "market"))


def write_jsonl(path, records):
    Path(path).write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def call(conversation="c1", iteration=1, results=(), **more):
    """The record of a search call."""
    return {"conversation_id": conversation, "iteration": iteration, "results": results, **more}


def run(output, inputs, *options):
    """Run `goodgain run` and return its exit code."""
    return main(["run", "--input", *map(str, inputs), "--output", str(output), *options])


def rows(output, dataset):
    return list(read_dataset(str(output), dataset))


def manifest(output):
    return read_manifest(str(output))


def as_written(manifest):
    """A typed manifest as it would be read from its file."""
    return json.loads(manifest_json(manifest))


def contents(output):
    """The bytes of every dataset's files by relative path; manifest and report hold times."""
    return {
        str(path.relative_to(output)): path.read_bytes()
        for path in sorted(Path(output).rglob("*"))
        if path.is_file() and path.name not in (MANIFEST, REPORT)
    }


def names_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def plain_scoring(**options):
    """The scoring of `goodgain run` without options."""
    return Scoring(compile_rules(load_rules(None)), **options)


# The costs in samples, which tests keep in Avro; a run finds the names in the first records.
SAMPLE_COSTS = ("milliseconds", "tokens", "usd")


def direct_scores(paths, details=True):
    """A ConversationScore by conversation_id: parse, fingerprint, score in Python, without Beam."""
    sampled = any(str(path).endswith(".avro") for path in paths)
    costs = SAMPLE_COSTS if sampled else ()  # other test traces have none
    options = {"per_call": details, "bounds": details, "write_duplicates": details}
    scoring = plain_scoring(**options, cost=costs)
    fingerprinter = Fingerprinter(scoring.rules)
    calls, rejected = defaultdict(list), Counter()
    for record in read_files(find_local_files(list(map(str, paths)))):
        if not isinstance(record, RejectedRecord):
            calls[record.conversation_id].append(fingerprinter.call_fingerprint(record, True))
        elif record.conversation_id:
            rejected[record.conversation_id] += record.records
    usage = any(call.action != SEARCH for own in calls.values() for call in own)
    scoring = replace(scoring, usage=usage)
    return {
        conversation_id: score_conversation(
            conversation_id, calls[conversation_id], rejected[conversation_id], scoring
        )
        for conversation_id in {*calls, *rejected}
    }


def native_folds(output):
    """How often native code folds a conversation of a run: each, where there is native code."""
    if native_module() is None:
        return Counter()
    return Counter({True: len(rows(output, "conversations"))})


def direct_rows(scores):
    """Rows by dataset, in the order in which `goodgain run` with the options FULL writes them."""
    ordered = [scores[name] for name in sorted(scores)]
    return {
        "iterations": [row for score in ordered for row in iteration_rows(score)],
        "conversations": [row for score in ordered for row in conversation_rows(score)],
        "calls": [row for score in ordered for row in call_rows(score)],
        "duplicates": [asdict(row) for score in ordered for row in score.duplicates],
        "means": direct_means(ordered),
    }


def direct_means(scores):
    names = scores[0].conversation.metrics
    costs, usage = COSTS.names_in(names), "opens" in names
    plan = plain_scoring(max_i=MAX_I, cost=costs, usage=usage).plan
    accumulators = {}
    for score in scores:
        values = conversation_values(score, plan)
        attributes = score.conversation.attributes
        for slice_ in SLICES if values else ():
            key = tuple(sorted((name, attributes.get(name, "")) for name in slice_))
            accumulators.setdefault(key, MeansAccumulator()).add(values)
    return [
        asdict(row)
        for key, accumulator in accumulators.items()
        for row in accumulator.rows(dict(key), plan)
    ]


def place(mean):
    """The key by which tests sort rows of `means`."""
    return (sorted(mean["slice"].items()), mean["metric"], mean["i"] or 0, mean["population"])


def assert_is_direct(output, paths, details=True):
    """Assert that a run wrote the rows that are computed without Beam.

    Args:
      details: whether it ran with the options FULL; otherwise with MEANS.
    """
    expected = direct_rows(direct_scores(paths, details))
    for dataset in ("iterations", "conversations", *(("calls", "duplicates") if details else ())):
        assert rows(output, dataset) == expected[dataset], dataset
        assert expected[dataset], dataset
    means = rows(output, "means")
    assert sorted(means, key=place) == sorted(expected["means"], key=place)
