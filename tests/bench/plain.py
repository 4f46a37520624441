"""A plain script that does the work of a run in one process: a loop over fastavro, then the core.

It uses neither Beam nor the native part. `python -m tests.bench.plain FILE FOLDER` writes rows into
the folder and prints the means at N.
"""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

os.environ["GOODGAIN_NATIVE"] = "0"  # before the package looks for the native part

import fastavro

from goodgain.pipeline.results.rows import conversation_rows, iteration_row
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, Fingerprinter
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.scoring.settings import Scoring


def means(path: Path, output: Path) -> dict[str, float | None]:
    """By metric, the mean over all conversations at N; writes rows as JSON Lines into a folder."""
    scoring = Scoring.default()
    accumulator = MeansAccumulator()
    conversations, iterations = [], []
    for score in _scores(path, scoring):
        conversations += conversation_rows(score)
        iterations += [iteration_row(row) for row in score.iterations]
        values = conversation_values(score, scoring.plan)
        if values is not None:
            accumulator.add(values)
    for name, rows in (("conversations", conversations), ("iterations", iterations)):
        with (output / f"{name}.jsonl").open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    found = accumulator.rows({}, scoring.plan)
    return {row.metric: row.mean for row in found if row.i is None and row.population == "all"}


def _scores(path: Path, scoring: Scoring) -> Iterator[ConversationScore]:
    for conversation_id, fingerprints in _fingerprints(path, scoring).items():
        yield score_conversation(conversation_id, fingerprints, 0, scoring)


def _fingerprints(path: Path, scoring: Scoring) -> dict[str, list[CallFingerprint]]:
    """The fingerprints of all calls by conversation."""
    fingerprinter = Fingerprinter(scoring.rules)
    found = defaultdict(list)
    with path.open("rb") as file:
        for record in fastavro.reader(file):
            call = parse_mapping(record)
            found[call.conversation_id].append(fingerprinter.call_fingerprint(call))
    return found


if __name__ == "__main__":
    json.dump(means(Path(sys.argv[1]), Path(sys.argv[2])), sys.stdout)
