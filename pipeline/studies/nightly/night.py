"""Runs one day, from its traces to its published folder."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from goodgain.pipeline.results.data_warnings import failing_in, warnings_in
from goodgain.pipeline.results.datasets import MEANS
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.folder import (
    MANIFEST,
    REPORT,
    read_dataset,
    read_manifest,
    write_manifest,
)
from goodgain.pipeline.results.manifest import above_limit
from goodgain.pipeline.results.opened_pool import pool_manifest
from goodgain.pipeline.results.unlabelled_arms import NO_LABEL, ShownRows
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.studies.comparison.compare import compare
from goodgain.pipeline.studies.comparison.measures import DECISIVE, DECISIVE_OF_POOL, HEADLINE
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.comparison.rescoring import run_name_of, score_again
from goodgain.pipeline.studies.comparison.rows import ComparisonRow, possible
from goodgain.pipeline.studies.gate.evaluate import evaluate, gather
from goodgain.pipeline.studies.gate.outcome import Outcome, passed
from goodgain.pipeline.studies.gate.rules import GateFile
from goodgain.pipeline.studies.nightly.baseline import Baseline, find_baseline
from goodgain.pipeline.studies.nightly.config import NightlyConfig, PoolChoice
from goodgain.pipeline.studies.nightly.days.days import DayFolders, patterns_of
from goodgain.pipeline.studies.nightly.days.history import (
    DAY_FILE,
    EXIT_CODES,
    DayChange,
    DayEntry,
    Verdict,
    day_counts,
    day_means,
    day_pool,
    failed_entry,
)
from goodgain.pipeline.studies.nightly.dependencies import Dependencies
from goodgain.pipeline.studies.nightly.scored_elsewhere import copy_outputs, discard, fetch
from goodgain.pipeline.studies.pool.build import PoolRequest
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.core.wording import pluralize
from goodgain.transforms.filesystems import delete, exists, join, open_plain
from goodgain.transforms.read import find_inputs

GATE_SUMMARY = "gate.md"


class Night(Struct, frozen=True):
    """The settings shared by all days of a job."""

    config: NightlyConfig
    gate: GateFile | None
    beam_arguments: tuple[str, ...]
    folders: DayFolders
    dependencies: Dependencies


def run_config(config: NightlyConfig, day: date, output: Path) -> RunConfig:
    """The configuration of a day's run.

    Args:
      output: folder to write the day to, unless the configuration names a scratch folder.

    Raises:
      UsageError: the file with the run's options cannot be used.
    """
    scratch = _scratch(config, day)
    options: dict[str, Any] = {
        "input": patterns_of(config.input, day),
        "output": scratch or str(output),
        # An interrupted job may have left files there; nothing else writes there.
        "overwrite": scratch is not None,
    }
    if config.runner is not None:
        options["runner"] = config.runner
    loaded = load_config(RunConfig, options, config.run)
    if loaded.gate or loaded.baseline:
        raise UsageError(
            f"{config.run} names a gate or a baseline; put them into the configuration of the "
            "nightly job instead."
        )
    return loaded


def _scratch(config: NightlyConfig, day: date) -> str | None:
    if config.scratch is None:
        return None
    folder: str = join(config.scratch, f"date={day.isoformat()}")
    return folder


def run_day(night: Night, day: date) -> DayEntry:
    """Score, compare, gate, report and publish a day.

    Returns:
      The entry of the day. If the day failed, nothing is published, and an earlier output stays.
    """
    started = night.dependencies.now()
    try:
        return _run_day(night, day, started)
    except (GoodGainError, OSError) as error:
        delete(str(night.folders.unfinished(day)))
        night.folders.discard_baseline()
        usage = isinstance(error, UsageError)
        return failed_entry(
            day,
            str(error),
            started.isoformat(timespec="seconds"),
            _seconds(night, started),
            ExitCode.USAGE if usage else ExitCode.FAILED,
        )


def _run_day(night: Night, day: date, started: datetime) -> DayEntry:
    folder = night.folders.unfinished(day)
    delete(str(folder))
    if night.config.scored is None:
        _score(night, day, folder)
    else:
        copy_outputs(night.config.scored, night.config.input, day, folder)
    manifest = read_manifest(str(folder))
    manifest["parameters"]["output"] = str(night.folders.published_folder(day))
    write_manifest(str(folder), manifest)
    on_pool = partial(_scored_again, night) if night.config.pool is not None else None
    baseline = find_baseline(night.config.baseline, day, manifest, night.folders, on_pool)
    note = baseline.note
    if baseline.lacking:
        note = f"not compared with a baseline: {baseline.lacking}"
    verdict, reasons, outcomes = judge(folder, manifest, baseline, night.gate)
    entry = DayEntry(
        date=day.isoformat(),
        verdict=verdict,
        exit_code=int(EXIT_CODES[verdict]),
        reasons=reasons,
        notes=(note,) if note else (),
        baseline=tuple(one.isoformat() for one in baseline.days),
        means=day_means(read_dataset(str(folder), MEANS.name), manifest),
        changes=changes(folder, baseline) if manifest["conversations"].get("in_means") else {},
        counts=day_counts(manifest),
        started=started.isoformat(timespec="seconds"),
        seconds=_seconds(night, started),
        warnings=tuple(warnings_in(manifest)),
        pool=day_pool(manifest),
    )
    views = night.dependencies.views
    (folder / REPORT).write_bytes(views.day(str(folder), manifest))
    if outcomes:
        (folder / GATE_SUMMARY).write_text(views.gate(outcomes, entry.date), "utf-8")
    document = msgspec.json.format(msgspec.json.encode(entry), indent=2)
    (folder / DAY_FILE).write_bytes(document + b"\n")
    night.folders.publish(day)
    night.folders.discard_baseline()
    return entry


def _score(night: Night, day: date, folder: Path) -> None:
    """Score a day into a folder, via the scratch folder if one is configured."""
    try:
        find_inputs(patterns_of(night.config.input, day))
    except UsageError as error:  # the configuration may be right
        raise GoodGainError(f"No input for {day.isoformat()}: {error}") from None
    config = run_config(night.config, day, folder)
    if night.config.pool is not None:
        config = _with_pool(night, night.config.pool, day, config)
    night.dependencies.run(config, night.beam_arguments)
    scratch = _scratch(night.config, day)
    if scratch is not None:
        fetch(scratch, folder)
        discard(scratch)


def _with_pool(night: Night, choice: PoolChoice, day: date, config: RunConfig) -> RunConfig:
    """Update the pool if configured so, and return the run's configuration with it (SPEC 9).

    A night is a run of the pool, named by its day. If the pool already has it with the same files,
    the pool is not changed, so that an interrupted job can resume; if the files differ, the night
    is replaced. Documents keep their numbers and labels.

    Raises:
      UsageError: the run has judgments of its own, or the pool is not in the pinned state.
      GoodGainError: the pool cannot be updated; it is unchanged.
    """
    if config.qrels or config.pool:
        own = "qrels" if config.qrels else "a pool"
        raise UsageError(
            f"The options of the run have {own}, but the nightly job has a pool of its own: leave "
            "out one of them."
        )
    if choice.digest is not None:
        name = _pinned_run(choice.path, choice.digest, config)
    else:
        name = day.isoformat()
        _add_to_pool(night, choice, name, config)
    return config.model_copy(update={"pool": choice.path, "run_name": name})


def _pinned_run(folder: str, digest: str, config: RunConfig) -> str | None:
    manifest = pool_manifest(folder, open_plain)
    if not manifest["digest"].startswith(digest):
        raise UsageError(
            f"The pool {folder} has the digest {manifest['digest']}, but {digest} is pinned: "
            "restore that state, or pin this one, with which earlier nights cannot be compared."
        )
    inputs = [{"path": file.path, "size": file.size} for file in find_inputs(config.input)]
    return run_name_of(inputs, manifest["runs"])


def _add_to_pool(night: Night, choice: PoolChoice, name: str, config: RunConfig) -> None:
    has_pool = exists(join(choice.path, MANIFEST))
    runs = pool_manifest(choice.path, open_plain)["runs"] if has_pool else {}
    files = {(file.path, file.size) for file in find_inputs(config.input)}
    if name in runs and files == {(one["path"], one["size"]) for one in runs[name]["inputs"]}:
        return
    request = PoolRequest(
        runs={name: config.input},
        output=choice.path,
        topic=choice.topic,
        update=has_pool,
        replaces=has_pool,
        rules=config.rules,
        runner=config.runner,
        max_rejected=config.max_rejected,
        adaptation=config.adaptation,
    )
    night.dependencies.build_pool(request, night.beam_arguments)


def _scored_again(night: Night, day: date, manifest: Mapping[str, Any]) -> Path | None:
    """A day's outputs with the pool in a manifest; None if its traces are gone or have changed."""
    if night.config.scratch is not None:
        return None  # workers cannot write to the folder of the baseline
    published, rescored = str(night.folders.published_folder(day)), night.folders.rescored(day)
    before = read_manifest(published)
    runner = manifest["parameters"]["runner"]

    def run(config: RunConfig) -> None:
        own = config.model_copy(update={"runner": runner})
        night.dependencies.run(own, night.beam_arguments)

    try:
        pool = manifest["pool"]["folder"]
        name = run_name_of(before["inputs"], pool_manifest(pool, open_plain)["runs"])
        score_again(published, before, rescored, {"pool": pool, "run_name": name}, run=run)
    except UsageError:
        return None
    return rescored


def _seconds(night: Night, started: datetime) -> float:
    return round((night.dependencies.now() - started).total_seconds(), 3)


def changes(folder: Path, baseline: Baseline) -> dict[str, DayChange]:
    """For each headline metric, the difference from the baseline at N over all conversations.

    Raises:
      UsageError: the runs cannot be compared.
    """
    if baseline.folder is None:
        return {}
    outputs = (str(baseline.folder), str(folder))
    pool_metrics = DECISIVE_OF_POOL if "pool" in read_manifest(str(folder)) else ()
    request = ComparisonRequest(
        outputs, metrics=(*HEADLINE, *pool_metrics), family=(*DECISIVE, *pool_metrics), max_i=1
    )
    compared = compare(request)
    shown = ShownRows(compared.without_labels)
    return {
        row.metric: _change(shown.struct(row))
        for row in compared.rows
        if row.i is None and not row.slice
    }


def _change(row: ComparisonRow) -> DayChange:
    """A row of the comparison as tables show it: without what arms without labels would show."""
    low, high = possible(row.metric, row.ci_low, row.ci_high)
    verdict_low, verdict_high = possible(row.metric, row.verdict_ci_low, row.verdict_ci_high)
    unlabelled = row.note == NO_LABEL
    return DayChange(
        n_base=row.n_base,
        n=row.n_candidate,
        base=row.base_mean,
        difference=row.difference,
        ci_low=low,
        ci_high=high,
        p_holm=row.p_holm,
        verdict_ci_low=verdict_low,
        verdict_ci_high=verdict_high,
        verdict="not comparable" if unlabelled else row.verdict,
        reason=NO_LABEL if unlabelled else row.reason,
        population=row.population,
    )


def judge(
    folder: Path, manifest: Mapping[str, Any], baseline: Baseline, gate: GateFile | None
) -> tuple[Verdict, tuple[str, ...], tuple[Outcome, ...]]:
    """The verdict on a day, why it did not pass, and the outcomes of the gate's rules, if any.

    With bad data the day fails whatever the gate says. If there is no baseline yet, since no
    earlier day was good and measured the same thing, rules on change are skipped even if the gate
    file says that they fail then; otherwise there could never be a first good day.
    """
    bad = _bad_data(manifest)
    if bad:
        return "bad data", (bad,), ()
    if gate is None:
        return "passed", (), ()
    if baseline.lacking:
        gate = gate.model_copy(update={"without_baseline": "skip"})
    baseline_folder = None if baseline.folder is None else str(baseline.folder)
    outcomes = tuple(evaluate(gate, gather(gate, str(folder), baseline_folder)))
    if passed(outcomes):
        return "passed", (), outcomes
    failed = (outcome for outcome in outcomes if outcome.verdict == "failed")
    return "gate failed", tuple(map(_failure_text, failed)), outcomes


def _bad_data(manifest: Mapping[str, Any]) -> str:
    records = manifest["records"]
    if records["too_many_rejected"]:
        return (
            f"{records['rejected']:,} of {records['read']:,} records "
            f"{pluralize(records['rejected'], 'was', 'were')} rejected; "
            + above_limit(records, f"max_rejected = {manifest['parameters']['max_rejected']}")
        )
    if warnings := failing_in(manifest):
        return warnings[0].message.rstrip(".")
    if not manifest["conversations"].get("in_means"):
        return "there are no conversations in the means"
    return ""


def _failure_text(outcome: Outcome) -> str:
    rule, value, bound = outcome.cells
    return f"{rule}{f' {value}' if value else ''}: {outcome.reason} (required: {bound})"
