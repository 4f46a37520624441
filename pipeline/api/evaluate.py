"""`goodgain.evaluate`: traces in, tables out."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from goodgain.pipeline.api.given_rows import (
    Labels,
    Outcomes,
    read_given_labels,
    read_given_outcomes,
)
from goodgain.pipeline.api.goodgain_warning import warn
from goodgain.pipeline.api.inputs import Traces, files_of, read_in_memory
from goodgain.pipeline.api.judgments import (
    ExcludedDocuments,
    Qrels,
    read_given_exclusions,
    read_given_judgments,
)
from goodgain.pipeline.api.result import Run
from goodgain.pipeline.api.run_warnings import check_some_usable
from goodgain.pipeline.api.table import Table
from goodgain.pipeline.inputs import progress
from goodgain.pipeline.inputs.local_files import LOCAL, open_local
from goodgain.pipeline.results import datasets, rows
from goodgain.pipeline.results.data_warnings import allowed_codes_in
from goodgain.pipeline.run.hosts.process import Evaluated, evaluate_here
from goodgain.pipeline.run.plan.evaluation import Evaluation, Held, open_evaluation
from goodgain.pipeline.run.plan.first_queries import find_first_queries
from goodgain.pipeline.run.plan.outcome import RunOutcome, manifest_of_run
from goodgain.pipeline.run.plan.seen_names import find_names
from goodgain.pipeline.run.plan.sources import LocalFiles, RecordsInMemory, TraceSource
from goodgain.pipeline.run.plan.traces import traces_of
from goodgain.pipeline.settings.in_memory import IN_MEMORY
from goodgain.pipeline.settings.keywords import from_keywords
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.wording import phrase_for_python
from goodgain.pipeline.studies.explanation.explain import find_turn
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.files.labels import LabelTable
from goodgain.transforms.core.files.outcomes import OutcomeTable
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.own_names import name_of

_ENGINE = "none (goodgain.evaluate)"


def evaluate(
    traces: Traces,
    *,
    metrics: Sequence[str | Metric] | str | None = None,
    slices: Sequence[str | Sequence[str]] | str | None = None,
    config: str | Path | None = None,
    labels: Labels | None = None,
    qrels: Qrels | None = None,
    outcomes: Outcomes | None = None,
    exclude: ExcludedDocuments | None = None,
    **options: Any,
) -> Run:
    """Score labelled traces in this process: the numbers of `goodgain run`, without Beam.

    Args:
      traces: a path or pattern of trace files, or a list of these; or the traces themselves: dicts
        or a table of pandas, polars or pyarrow. With `results`, a dict or row is one search call;
        without it, one result (long form), with the fields of its search call.
      metrics: ranking metrics, like `ndcg@10`, and your own (`metric`); by default those of
        `goodgain run`.
      slices: attributes to slice the means by, like `market`, or several at once like `["arm",
        "market"]`.
      config: a YAML file with options of `goodgain run`; arguments given here override it.
      labels: labels of single results, which replace those of the traces: a path or pattern of
        files as for `goodgain run --labels`, or their rows as dicts or as a table.
      qrels: judgments, which replace the labels of the traces: a path or pattern of files as for
        `goodgain run --qrels`, their rows as dicts or as a table with columns like topic,
        document_id and gain or query-id, corpus-id and score, or a dict like `{topic: {document:
        2}}`.
      outcomes: outcomes of conversations, which override those of the traces: a path or pattern of
        files as for `goodgain run --outcomes`, their rows as dicts or as a table with a
        conversation_id, or a dict like `{conversation: {"correct": 1}}`.
      exclude: documents that are left out of everything by topic: a path or pattern of files as for
        `goodgain run --exclude`, their rows as dicts or as a table with columns like topic and
        document_id, or a dict like `{topic: [document]}`.
      options: any other option of `goodgain run`, with `_` between words, like
        `good_gain_threshold=3`.

    Returns:
      The run: its tables, report and explanations.

    Raises:
      UsageError: an option, a file name or a rules file cannot be used.
      GoodGainError: the files hold more than `max_held_bytes` allows, or every record was rejected.

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
    with phrase_for_python():
        if metrics is not None and not isinstance(metrics, str):
            metrics = [name_of(metric) for metric in metrics]
        chosen = {**options, "metrics": metrics, "slices": slices}
        return _evaluate(traces, chosen, config, labels, qrels, outcomes, exclude)


def _evaluate(
    traces: Traces,
    chosen: dict[str, Any],
    config: str | Path | None,
    labels: Labels | None,
    qrels: Qrels | None,
    outcomes: Outcomes | None,
    exclude: ExcludedDocuments | None,
) -> Run:
    started = datetime.now(UTC)
    files = files_of(traces)
    beside = {"labels": labels, "qrels": qrels, "outcomes": outcomes, "exclude": exclude}
    for name, given in beside.items():
        chosen[name] = IN_MEMORY if _is_held(given) else given
    fixed = {
        "input": [IN_MEMORY] if files is None else [file.path for file in files],
        "output": IN_MEMORY,
        "write_duplicates": True,  # always, since rows are only made when asked for
    }
    config_path = None if config is None else os.fspath(config)
    settings = from_keywords(RunConfig, chosen, fixed, config_path)
    source: TraceSource
    if files is None:
        records, seen = read_in_memory(traces, settings.adaptation, settings.read_bounds)
        source, found = RecordsInMemory(records), traces_of(settings, (), seen)
    else:
        source = LocalFiles(files, settings)
        found = traces_of(settings, files, find_names(files, open_local, settings.adaptation))
    label_map = settings.label_scale
    label_table = LabelTable(settings.iteration_base, label_map)
    outcome_table = OutcomeTable(settings.outcome_names)
    held = Held(
        read_given_labels(labels, label_table) if _is_held(labels) else None,
        read_given_judgments(qrels, label_map) if _is_held(qrels) else None,
        read_given_outcomes(outcomes, outcome_table) if _is_held(outcomes) else None,
        read_given_exclusions(exclude, settings.name_keys) if _is_held(exclude) else None,
    )
    evaluation = open_evaluation(settings, found, LOCAL, started, held)
    with progress.show_progress(found.size):
        evaluated = evaluate_here(settings.means, evaluation, source)
    outcome = RunOutcome(
        counts=evaluated.counts,
        rows={},
        means=evaluated.means,
        engine=_ENGINE,
        started=started,
        finished=datetime.now(UTC),
        contradicted_ids=evaluated.contradicted_ids,
    )
    first_rejected = min(evaluated.rejected, key=rows.key_of_rejected, default=None)
    run = Run(
        _tables(evaluated, evaluation),
        manifest_of_run(settings, evaluation, outcome),
        lambda conversation_id, pair: find_turn(conversation_id, evaluation, source, pair),
        None if files else partial(_first_queries, source, found.rules),
        first_rejected,
    )
    check_some_usable(run.manifest, first_rejected)
    _warn_of(run)
    return run


def _is_held(given: Any) -> bool:
    """Whether an argument is in memory rather than a path or pattern of files."""
    return given is not None and not isinstance(given, str | os.PathLike)


def _first_queries(
    source: TraceSource, rules: RuleTable, conversation_ids: Collection[str]
) -> Mapping[str, str]:
    return find_first_queries(source.conversations(conversation_ids, rules), conversation_ids)


def _warn_of(run: Run) -> None:
    """Emit what the command prints beside the numbers."""
    allowed = allowed_codes_in(run.manifest)
    for warning in run.warnings:
        if warning.code not in allowed:
            warn(f"{warning.code}: {warning.message} {warning.remedy}".rstrip())
            run.emitted.append(warning.code)


def _tables(evaluated: Evaluated, evaluation: Evaluation) -> dict[str, Callable[[], Table]]:
    """For each dataset, a function that makes its table, sorted by key, on the first call."""
    scoring = evaluation.scoring
    of_conversations = datasets.conversations(scoring.plan, scoring.label_keys is not None)
    conversations = rows.DatasetRows(of_conversations, rows.conversation_rows)
    sources: list[tuple[rows.SortedRows, Iterable[Any]]] = [
        (rows.rows_of_scores(scoring, conversations), evaluated.scores),
        (rows.MEANS, evaluated.means),
        (rows.REJECTED, evaluated.rejected),
        (rows.LATE, ()),  # only streams have late records
    ]
    if scoring.outcomes:
        sources.append((rows.OUTCOME_RELATIONS, evaluated.relations))
    for table, rejected in evaluated.rejected_rows.items():
        sources.append((rows.REJECTED_ROWS[table], rejected))
    tables: dict[str, Callable[[], Table]] = {}
    for source, elements in sources:
        ordered = sorted(elements, key=source.key_of)
        for of_dataset in source.datasets:
            tables[of_dataset.dataset.name] = cache(partial(_table_of, of_dataset, ordered))
    return tables


def _table_of(of_dataset: rows.DatasetRows, elements: Sequence[Any]) -> Table:
    return Table(of_dataset.dataset, list(chain.from_iterable(map(of_dataset.rows_of, elements))))
