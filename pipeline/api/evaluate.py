"""`goodgain.evaluate`: traces in, tables out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from typing import Any

import xxhash
from msgspec import Struct
from msgspec.structs import asdict

from goodgain.pipeline.api.inputs import Traces, files_of, in_memory
from goodgain.pipeline.api.labels import Labels, join_labels, read_result_labels
from goodgain.pipeline.api.messages import phrased_for_python, warn
from goodgain.pipeline.api.result import Run
from goodgain.pipeline.api.table import Row, Table
from goodgain.pipeline.document import progress
from goodgain.pipeline.results import datasets, rows
from goodgain.pipeline.results.data_warnings import misspelt_names, warnings_of_run
from goodgain.pipeline.results.datasets import Dataset
from goodgain.pipeline.results.manifest import manifest_of
from goodgain.pipeline.run.hosts.process import RunSums, gather, scores_of
from goodgain.pipeline.run.plan.judgments import join, read_judgments
from goodgain.pipeline.run.plan.labels import rejected_row
from goodgain.pipeline.run.plan.local_files import open_local, read_files, shards_of, usable_threads
from goodgain.pipeline.run.plan.local_scoring import local_scoring, memory_budget_of
from goodgain.pipeline.run.plan.seen_names import first_look
from goodgain.pipeline.settings.keywords import from_keywords
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.files.shard import FileShard, InputFile
from goodgain.transforms.core.means.rows import MeanRow
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.files import TopicPools
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.native_packing import NativePacker, packer_for, reading_counts
from goodgain.transforms.core.scoring.packing import Packed, Packer, Packing
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.shard_payloads import (
    Ties,
    encodings_of,
    encodings_of_shard,
    payloads_of,
    payloads_of_shard,
)
from goodgain.transforms.core.warnings.warning import allowed_codes

IN_MEMORY = "(in memory)"
_ENGINE = "none (goodgain.evaluate)"


def evaluate(
    traces: Traces,
    *,
    metrics: Sequence[str] | str | None = None,
    slices: Sequence[str | Sequence[str]] | str | None = None,
    config: str | None = None,
    labels: Labels | None = None,
    **options: Any,
) -> Run:
    """Score labelled traces in this process: the numbers of `goodgain run`, without Beam.

    Args:
      traces: a path or pattern of trace files, or a list of these; or the traces themselves: dicts
        or a table of pandas, polars or pyarrow. With `results`, a dict or row is one search call;
        without it, one result (long form), with the fields of its search call.
      metrics: ranking metrics, like `ndcg@10`; by default those of `goodgain run`.
      slices: attributes to slice the means by, like `market`, or several at once like `["arm",
        "market"]`.
      config: a YAML file with options of `goodgain run`; arguments given here override it.
      labels: labels of single results, which replace those of the traces: a path or pattern of
        files as for `goodgain run --labels`, or their rows as dicts or as a table.
      options: any other option of `goodgain run`, with `_` between words, like
        `good_gain_threshold=3`.

    Returns:
      The run: its tables, report and explanations.

    Raises:
      UsageError: an option, a file name or a rules file cannot be used.
      GoodGainError: the files hold more than `max_held_bytes` allows.

    Example:
      >>> import goodgain as gg
      >>> run = gg.evaluate(
      ...     [
      ...         {"conversation_id": "c-1", "iteration": 1, "results": [{"id": "a", "gain": 3}]},
      ...         {"conversation_id": "c-1", "iteration": 2, "results": [{"id": "a", "gain": 3}]},
      ...     ]
      ... )
      >>> run.conversations[0]["CG"], run.conversations[0]["SRR"]
      (3, 0.5)
    """
    with phrased_for_python():
        return _evaluated(traces, {**options, "metrics": metrics, "slices": slices}, config, labels)


def _evaluated(
    traces: Traces, chosen: dict[str, Any], config: str | None, labels: Labels | None
) -> Run:
    started = datetime.now(UTC)
    files = files_of(traces)
    if isinstance(labels, str | os.PathLike):
        chosen["labels"] = labels
    fixed = {
        "input": [IN_MEMORY] if files is None else [file.path for file in files],
        "output": IN_MEMORY,
        "write_duplicates": True,  # always, since in memory they cost no files
    }
    settings = from_keywords(RunConfig, chosen, fixed, config)
    source: _Memory | _Files
    if files is None:
        records, seen = in_memory(traces, settings.adaptation)
        source = _Memory(records)
    else:
        source = _Files(files, settings.adaptation, settings.read_bounds)
        seen = first_look(files, open_local, settings.adaptation)
    scored_with = local_scoring(settings, seen.costs, started)
    scoring, pool = scored_with.scoring, scored_with.pool
    budget = memory_budget_of(settings, files or (), pool)
    # Traces that the caller has in memory anyway are not counted, only other files.
    trace_budget = MemoryBudget(None) if files is None else budget
    if settings.labels is not None:
        labels = settings.labels
    label_rows = None
    if labels is not None:
        label_rows = read_result_labels(labels, settings.iteration_base, budget)
    judged = read_judgments(scored_with.qrels, open_local, budget)
    pools = TopicPools(pool.use.files, scoring.rules, open_local, budget) if pool else None
    sums = RunSums(settings, scoring)
    with progress.shown(sum(file.size for file in files or ())):
        packing = Packing(scoring.rules, pool is not None, scoring.label_keys, usable_threads())
        packer = packer_for(packing)
        gathered = gather(source.packed(packer), trace_budget)
        external_labels, judgment_counts = join(gathered.label_requests, judged)
        for conversation_id, external in external_labels.items():
            gathered.payloads[conversation_id].append(payload((), external=external))
        scores = []
        label_counts: dict[str, int] = {}
        unjoined: list[RejectedRecord] = []
        if label_rows is not None:
            label_counts, unjoined = join_labels(label_rows, gathered.payloads)
        for score in scores_of(gathered.payloads, scoring, source.encodings, pools, trace_budget):
            sums.add(score)
            scores.append(score)
    # `+` would drop the counts that are 0, which warnings need.
    counts = Counter(sums.counts)
    counts.update(gathered.counts)
    counts.update(reading_counts(packer))
    counts.update(judgment_counts)
    counts.update(label_counts)
    means = list(sums.means())
    manifest = manifest_of(
        counts=counts,
        datasets={},
        parameters=settings.model_dump(mode="json"),
        rules_digest=xxhash.xxh3_128_hexdigest(scored_with.rules.model_dump_json().encode()),
        inputs=files or [],
        qrels=scored_with.qrels,
        labels=() if label_rows is None else label_rows.files,
        pool=pool,
        engine=_ENGINE,
        started=started,
        finished=datetime.now(UTC),
        max_rejected=settings.rejected_limit,
        warnings=warnings_of_run(settings, counts, means, scoring.rules, seen, pool, started),
    )
    tables = _tables(scores, gathered.rejected, means, scoring)
    if label_rows is not None:
        unjoined += (
            rejected_row(one, label_rows.files) for score in scores for one in score.rejected_labels
        )
        tables[datasets.REJECTED_LABELS.name] = _lazy_table(
            datasets.REJECTED_LABELS, map(asdict, sorted(unjoined, key=rows.rejected_key))
        )
    run = Run(
        tables,
        manifest,
        lambda: scored_with,
        source.records,
        lambda _: () if label_rows is None else label_rows.labels(),
        lambda _: MemoryBudget(None) if files is None else memory_budget_of(settings, files, pool),
    )
    _warn_of(run, means)
    return run


def _warn_of(run: Run, means: Sequence[MeanRow]) -> None:
    """Emit what the command prints beside the numbers."""
    parameters = run.manifest["parameters"]
    accepted = allowed_codes(
        unlabelled=parameters["allow_unlabelled"], no_good=parameters["allow_no_good"]
    )
    for one in run.warnings:
        if one.code not in accepted:
            warn(f"{one.code}: {one.message} {one.remedy}")
    at_end = [asdict(row) for row in means if row.i is None and not row.slice]
    if rejected := run.rejected_text():
        warn(rejected)
    for line in misspelt_names(at_end, (row.slice for row in means), run.manifest):
        warn(line)


def _tables(
    scores: list[ConversationScore],
    rejected: list[RejectedRecord],
    means: Iterable[MeanRow],
    scoring: Scoring,
) -> dict[str, Callable[[], Table]]:
    """For each dataset, a function that makes its table, sorted by key, on the first call."""
    scores.sort(key=rows.score_key)
    metrics = scoring.ranking.metrics
    pooled = scoring.pool is not None
    ranked = rows.RankedRows(tuple(metric.name for metric in metrics))
    rows_of: dict[Dataset, Iterable[Row]] = {
        datasets.conversations(
            metrics, scoring.label_keys is not None, pooled, scoring.costs
        ): chain.from_iterable(map(ranked.conversation, scores)),
        datasets.iterations(pooled, scoring.costs): chain.from_iterable(
            map(rows.iteration_rows, scores)
        ),
        datasets.DUPLICATES: chain.from_iterable(map(rows.duplicate_rows, scores)),
        datasets.MEANS: map(asdict, sorted(means, key=rows.mean_key)),
        datasets.REJECTED: map(asdict, sorted(rejected, key=rows.rejected_key)),
        datasets.LATE: (),  # only streams have late records
    }
    if scoring.per_call:
        rows_of[datasets.calls(metrics)] = chain.from_iterable(map(ranked.calls, scores))
    return {dataset.name: _lazy_table(dataset, rows) for dataset, rows in rows_of.items()}


def _lazy_table(dataset: Dataset, rows: Iterable[Row]) -> Callable[[], Table]:
    return cache(lambda: Table(dataset, list(rows)))


class _Memory(Struct, frozen=True):
    """Traces that the caller holds."""

    calls: list[SearchCall | RejectedRecord]

    def packed(self, packer: Packer | NativePacker) -> Iterator[Packed | RejectedRecord]:
        return payloads_of(self.calls, packer)

    def encodings(self, ties: Ties) -> Iterator[tuple[str, bytes]]:
        return encodings_of(self.calls, ties)

    def records(self) -> Iterator[SearchCall | RejectedRecord]:
        return iter(self.calls)


class _Files(Struct, frozen=True):
    """Traces in files of this machine, read anew each time."""

    files: Sequence[InputFile]
    adaptation: Adaptation | None
    bounds: ReadBounds

    def packed(self, packer: Packer | NativePacker) -> Iterator[Packed | RejectedRecord]:
        for shard in self._shards():
            if isinstance(shard, RejectedRecord):
                yield shard
            else:
                yield from payloads_of_shard(shard, open_local, packer)
                progress.advance({"bytes.read": shard.end - shard.start})

    def encodings(self, ties: Ties) -> Iterator[tuple[str, bytes]]:
        for shard in self._shards():
            if not isinstance(shard, RejectedRecord):
                yield from encodings_of_shard(shard, open_local, ties)

    def records(self) -> Iterator[SearchCall | RejectedRecord]:
        for _, records in read_files(self.files, self.adaptation, self.bounds):
            yield from records

    def _shards(self) -> Iterator[FileShard | RejectedRecord]:
        for file in self.files:
            yield from shards_of(file, self.adaptation, self.bounds)
