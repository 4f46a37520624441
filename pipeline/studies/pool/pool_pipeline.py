"""`goodgain pool build`: pools the documents of several runs (SPEC 9)."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from math import ceil
from operator import attrgetter
from typing import Any

import apache_beam as beam
import msgspec
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.document import progress
from goodgain.pipeline.document.console import message_console
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.datasets import pool_documents
from goodgain.pipeline.results.folder import UNFINISHED, discard_unfinished, write_file
from goodgain.pipeline.results.sinks import DatasetRows, Target, WriteRows, WrittenFile
from goodgain.pipeline.run.engines import runners
from goodgain.pipeline.run.engines.failures import engine_failures
from goodgain.pipeline.run.hosts.counts import Counts, count_elements, sum_counts
from goodgain.pipeline.run.plan.seen_names import find_names
from goodgain.pipeline.run.plan.traces import traces_of
from goodgain.pipeline.settings.option_types import Format
from goodgain.pipeline.settings.pool_config import PoolConfig
from goodgain.pipeline.studies.pool import store
from goodgain.pipeline.studies.pool.store import Pool
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.core.files.shard import DEFAULT_SHARD_BYTES, InputFile
from goodgain.transforms.core.pool.agreement import label_spans
from goodgain.transforms.core.pool.document_rows import document_digest, document_row
from goodgain.transforms.core.pool_building.building import BuiltTopic, Contribution
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.filesystems import is_local, join, open_plain
from goodgain.transforms.pool import BuildPool, ContributeToPool
from goodgain.transforms.read import ReadPayloads, find_inputs

# Bytes of traces per pool file; scoring reads one file at a time.
_INPUT_BYTES_PER_FILE = 32 * 2**20
_SHOWN_REFUSED = 5
_SUMMARY = "summary.json"
FORMAT: Format = "avro"


def build_pool(request: PoolConfig, beam_arguments: Sequence[str], quiet: bool = False) -> Pool:
    """Build a pool, or add runs to one.

    Raises:
      UsageError: the request does not fit the pool, or a conversation is in the pool already.
      GoodGainError: the pipeline failed; the pool is unchanged.
    """
    started = datetime.now(UTC)
    engine, options = runners.create(request.runner, beam_arguments, command="pool build")
    request = request.model_copy(
        update={
            "output" if request.update is None else "update": runners.reachable(
                "output", request.folder, engine, options
            ),
            "runs": {
                name: runners.reachable("run", patterns, engine, options)
                for name, patterns in request.runs.items()
            },
        }
    )
    if request.update:
        store.read_pool(request.folder)
    else:
        store.begin_pool(request.folder)
    inputs = {name: find_inputs(patterns) for name, patterns in request.runs.items()}
    files = [file for several in inputs.values() for file in several]
    traces = traces_of(request, files, find_names(files, open_plain, request.adaptation))
    for warning in traces.name_warnings():
        message_console().print(warning_text(warning), soft_wrap=True)
    with store.changing(request.folder, started):
        before = store.read_pool(request.folder) if request.update else None
        if before is not None:
            request = _completed(request, before, traces.rules_digest)
        discard_unfinished(request.folder)
        target = Target(
            os.path.abspath(request.folder) if is_local(request.folder) else request.folder,
            request.format or FORMAT,
            request.shards or max(1, ceil(traces.size / _INPUT_BYTES_PER_FILE)),
        )
        with progress.shown(traces.size, quiet=quiet):
            summary = _run(request, inputs, traces.rules, before, target, engine, options)
        manifest = store.manifest_of(
            counts=summary.counts,
            before=before.manifest if before else None,
            documents=store.next_documents(before),
            format=target.format,
            shards=target.shards,
            topic=request.topic,
            inputs=inputs,
            rules_digest=traces.rules_digest,
            unit=request.unit,
            started=started,
            finished=datetime.now(UTC),
            max_rejected=request.max_rejected,
        )
        return store.publish_pool(
            request.folder, manifest, (file.path for file in summary.files), before
        )


def _completed(request: PoolConfig, before: Pool, rules_digest: str) -> PoolConfig:
    """The request, completed with the topic, format and shards of the existing pool.

    Raises:
      UsageError: the pool was built with other options.
    """
    manifest = before.manifest
    if request.topic is not None and request.topic != manifest["topic"]:
        raise UsageError(
            f"The pool {before.folder} was built with the topic "
            f"{manifest['topic'] or 'conversation_id'}, not {request.topic}: leave out --topic, "
            "or build another pool."
        )
    if rules_digest != manifest["rules_digest"]:
        raise UsageError(
            f"The pool {before.folder} was built with other rules for duplicates: give those with "
            "--rules, or build another pool."
        )
    if request.unit != manifest["unit"]:
        raise UsageError(
            f"The pool {before.folder} holds {manifest['unit']}s, not {request.unit}s: give --unit "
            f"{manifest['unit']}, or build another pool."
        )
    if request.format not in (None, manifest["format"]):
        raise UsageError(
            f"The pool {before.folder} is stored as {manifest['format']}: leave out --format."
        )
    return request.model_copy(
        update={
            "topic": manifest["topic"],
            "format": manifest["format"],
            "shards": request.shards or manifest["shards"],
        }
    )


class _Summary(Struct, frozen=True):
    """Counts that the pipeline returns at its end."""

    files: list[WrittenFile]
    counts: Counts
    refused: list[tuple[str, str]]


def _run(
    request: PoolConfig,
    inputs: Mapping[str, Sequence[InputFile]],
    rules: RuleTable,
    before: Pool | None,
    target: Target,
    engine: Any,
    options: Any,
) -> _Summary:
    local = isinstance(engine, FnApiRunner)
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL if local else logging.ERROR)
    pipeline = beam.Pipeline(runner=engine, options=options)
    _graph(pipeline, request, inputs, rules, before, target)
    try:
        with engine_failures("Building the pool failed"):
            pipeline.run().wait_until_finish()
    except (GoodGainError, KeyboardInterrupt):
        discard_unfinished(request.folder)
        raise
    with open_plain(join(request.folder, UNFINISHED, _SUMMARY)) as file:
        summary = msgspec.json.decode(file.read(), type=_Summary)
    if summary.refused:
        discard_unfinished(request.folder)
        raise UsageError(_refusal(summary.refused, request.folder))
    return summary


def _refusal(refused: Sequence[tuple[str, str]], folder: str) -> str:
    shown = ", ".join(f"{name}: {conversation}" for name, conversation in refused[:_SHOWN_REFUSED])
    more = " and others" if len(refused) > _SHOWN_REFUSED else ""
    return (
        f"The pool {folder} already holds conversations of these runs ({shown}{more}); nothing was "
        "changed. Use another name for the run, or --replace to replace the old ones."
    )


def _graph(
    pipeline: beam.Pipeline,
    request: PoolConfig,
    inputs: Mapping[str, Sequence[InputFile]],
    rules: RuleTable,
    before: Pool | None,
    target: Target,
) -> None:
    """Build the graph: read each run, gather its conversations, pool them by topic, write."""
    contributed, counts = [], []
    for run, files in inputs.items():
        label = f"Run {run}"
        read = pipeline | f"{label}/Read" >> ReadPayloads(
            files,
            Packing(rules, keep_records=True),
            DEFAULT_SHARD_BYTES,
            request.adaptation,
            request.read_bounds,
        )
        contributions = read.payloads | f"{label}/Contribute" >> ContributeToPool(
            run, rules, request.topic
        )
        contributed.append(contributions)
        counts += [
            read.counts | f"{label}/CountRead" >> count_elements(dict),
            contributions | f"{label}/CountContributions" >> count_elements(_contribution_counts),
        ]
    everything = contributed | "Contributions" >> beam.Flatten()
    everything.element_type = Contribution
    built = everything | "Build" >> BuildPool(
        rules, before.files.paths() if before else (), request.replace
    )
    counts.append(built.topics | "CountTopics" >> count_elements(_topic_counts))
    dataset = pool_documents(store.next_documents(before))
    rows_of = partial(_document_rows, preferred=before.preferred if before else None)
    files = (
        built.topics
        | "WithoutCounts" >> beam.Map(_without_counts).with_output_types(BuiltTopic)
        | "Write"
        >> WriteRows(target, [DatasetRows(dataset, rows_of)], BuiltTopic, attrgetter("topic.key"))
    )
    _ = (
        pipeline
        | "Once" >> beam.Create([join(target.folder, UNFINISHED)])
        | "WriteSummary"
        >> beam.Map(
            _write_summary,
            files=beam.pvalue.AsList(files),
            counts=beam.pvalue.AsSingleton(
                counts | "Counts" >> beam.Flatten() | "Sum" >> beam.CombineGlobally(sum_counts)
            ),
            refused=beam.pvalue.AsSingleton(
                built.refused | "Refused" >> beam.combiners.Top.Smallest(_SHOWN_REFUSED + 1)
            ),
        )
    )


def _contribution_counts(contribution: Contribution) -> Counts:
    return {
        "pool.conversations_without_topic": int(contribution.topic.value is None),
        "pool.conversations": 1,
    }


def _topic_counts(built: BuiltTopic) -> Counts:
    counts = Counter(built.counts)
    counts["pool.topics"] = 1
    counts["pool.digest"] = sum(map(document_digest, built.documents))
    counts["pool.documents"] = len(built.documents)
    runs: dict[str, set[str]] = {}
    for document in built.documents:
        counts["pool.places"] += len(document.places)
        counts["pool.evidence"] += len(document.evidence)
        counts["pool.judged_for_aspects"] += document.covered() is not None
        seen = {place.run for place in document.places}
        counts.update(f"documents.{run}" for run in seen)
        if len(seen) == 1:
            counts.update(f"only.{run}" for run in seen)
        for place in document.places:
            runs.setdefault(place.run, set()).add(place.conversation_id)
        for id_name, apart in label_spans(document):
            counts.update([f"voted.{id_name}", *([f"apart.{id_name}"] if apart else ())])
    for run, conversations in runs.items():
        counts[f"conversations.{run}"] = len(conversations)
    return dict(counts)


def _without_counts(built: BuiltTopic) -> BuiltTopic:
    return replace(built, counts={})


def _document_rows(built: BuiltTopic, preferred: str | None) -> list[dict[str, Any]]:
    return [document_row(document, preferred) for document in built.documents]


def _write_summary(
    unfinished: str, files: Iterable[WrittenFile], counts: Counts, refused: list[tuple[str, str]]
) -> None:
    summary = _Summary(sorted(files, key=lambda file: file.path), counts, refused)
    write_file(unfinished, _SUMMARY, msgspec.json.encode(summary, order="sorted"))
