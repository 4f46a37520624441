"""Outputs of a run without an engine: scored by the core, written in the format of a run."""

from collections import Counter
from datetime import UTC, datetime

from msgspec.structs import asdict

from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.balance import records_part
from goodgain.pipeline.results.folder import write_manifest
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.given_parts import files_part
from goodgain.pipeline.results.manifest import conversations_part, results_part, versions_of_run
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.rows import conversation_rows, iteration_rows, struct_row
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.records.max_rejected import MaxRejected
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.version import SCORING_VERSION
from tests.core import direct

METRICS = ("ndcg@10", "rbp.8", "auc")
MOMENT = datetime(2025, 3, 3, 4, 5, tzinfo=UTC)


def search(conversation_id, iteration, found, attributes=None, **more):
    """A search call; `found` has pairs of a document number and a gain."""
    results = [
        {"entity_type": "File", "ids": {"file_id": f"{conversation_id}-{document}"}, "gain": gain}
        for document, gain in found
    ]
    return {
        "conversation_id": conversation_id,
        "iteration": iteration,
        "call": 0,
        "attributes": attributes or {},
        "results": results,
        **more,
    }


def market_records(conversations=12):
    """Conversations of two markets; a third iteration, if any, only repeats earlier results."""
    records = []
    for at in range(conversations):
        name, attributes = f"c-{at:02}", {"market": ("north", "south")[at % 2], "arm": "A"}
        records += [
            search(name, 1, [(1, 3), (2, at % 5), (3, None)], attributes),
            search(name, 2, [(1, 3), (4, 4 if at % 2 else 0), (5, 1)], attributes),
        ]
        if at % 3 == 0:
            records.append(search(name, 4, [(1, 3), (2, at % 5)], attributes))
    return records


def write_outputs(
    folder,
    records,
    slices=(("market",),),
    rejected=(),
    file_format="avro",
    parameters=None,
    scoring=None,
):
    """Write every dataset and the manifest, and return the manifest."""
    options = scoring or {}
    of_run = direct.scoring(metrics=METRICS, max_i=5, **options).plan
    scores = [
        conversation_score
        for _, conversation_score in sorted(
            direct.score(records, metrics=METRICS, **options).items()
        )
    ]
    rows = {
        datasets.conversations(of_run): [
            row for score in scores for row in conversation_rows(score)
        ],
        datasets.iterations(of_run): [row for score in scores for row in iteration_rows(score)],
        datasets.MEANS: [asdict(mean) for mean in _means(scores, slices, of_run)],
        datasets.REJECTED: [row for record in rejected for row in struct_row(record)],
        datasets.LATE: [],
    }
    chosen = FORMATS[file_format]
    for dataset, of_dataset in rows.items():
        (folder / dataset.name).mkdir(parents=True)
        with open(folder / dataset.name / f"part-00000-of-00001{chosen.suffix}", "wb") as file:
            chosen.write(dataset, of_dataset, file)
    manifest = _manifest(scores, rejected, slices, parameters or {})
    write_manifest(str(folder), manifest)
    return manifest


def rejected_record(reason="gain must be a whole number from 0 to 4, got 9.", payload="{}", **more):
    return RejectedRecord("in.avro", "record 3", reason, payload=payload, **more)


def _means(scores, slices, of_run):
    accumulators = {}
    for conversation_score in scores:
        values = conversation_values(conversation_score, of_run)
        if values is None:
            continue
        attributes = conversation_score.conversation.attributes
        for names in ((), *slices):
            key = tuple((name, attributes.get(name, "")) for name in names)
            accumulators.setdefault(key, MeansAccumulator()).add(values)
    for key, accumulator in accumulators.items():
        yield from accumulator.rows(dict(key), of_run)


def _manifest(scores, rejected, slices, parameters):
    counts = Counter()
    for conversation_score in scores:
        counts.update(conversation_score.counts)
    counts["records.rejected"] += len(rejected)
    counts["records.read"] = sum(
        counts[f"records.{name}"] for name in ("scored", "earlier_turn", "redelivered", "rejected")
    )
    return RunManifest(
        records=records_part(counts, MaxRejected.parse("100%")),
        conversations=conversations_part(counts),
        results=results_part(counts),
        warnings=(),
        datasets={"conversations": len(scores)},
        parameters={
            "input": ["in.avro"],
            "output": "out",
            "max_i": 5,
            "g_max": 4,
            "max_rejected": "1%",
            "rules": None,
            "good_gain_threshold": 2,
            "slice": [list(names) for names in slices],
            "metrics": list(METRICS),
            **parameters,
        },
        rules_digest="abc",
        scoring_version=SCORING_VERSION,
        inputs=files_part([InputFile("in.avro", 1_234)]),
        engine="FnApiRunner",
        reading="native",
        versions=versions_of_run(),
        started=MOMENT,
        finished=MOMENT,
    )
