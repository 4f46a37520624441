"""Runs one day, from its traces to its published folder."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from goodgain.pipeline.results.datasets import MEANS
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_dataset, read_run
from goodgain.pipeline.results.folder import REPORT, write_manifest
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.studies.gate.gate_file import GateFile
from goodgain.pipeline.studies.nightly.baseline import find_baseline
from goodgain.pipeline.studies.nightly.config import NightlyConfig
from goodgain.pipeline.studies.nightly.days.days import DayFolders, patterns_of
from goodgain.pipeline.studies.nightly.days.entry import (
    EXIT_CODES,
    DayEntry,
    day_counts,
    day_means,
    day_pool,
    entry_of_failure,
)
from goodgain.pipeline.studies.nightly.days.history import DAY_FILE
from goodgain.pipeline.studies.nightly.dependencies import Dependencies
from goodgain.pipeline.studies.nightly.scratch import discard, fetch
from goodgain.pipeline.studies.nightly.verdict import changes, judge
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.filesystems import delete, join
from goodgain.transforms.read import find_inputs

GATE_SUMMARY = "gate.md"
_BY_DAY = ("labels", "outcomes")  # options of a run whose path may name the day


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
    # Each day may have its own tables.
    tables = {
        name: patterns_of([path], day)[0] for name in _BY_DAY if (path := getattr(loaded, name))
    }
    return loaded.model_copy(update=tables)


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
        delete(str(night.folders.unfinished_folder(day)))
        night.folders.discard_baseline()
        usage = isinstance(error, UsageError)
        return entry_of_failure(
            day,
            str(error),
            started.isoformat(timespec="seconds"),
            _seconds(night, started),
            ExitCode.USAGE if usage else ExitCode.FAILED,
        )


def _run_day(night: Night, day: date, started: datetime) -> DayEntry:
    folder = night.folders.unfinished_folder(day)
    delete(str(folder))
    _score(night, day, folder)
    scored, output = read_run(str(folder)), str(night.folders.published_folder(day))
    manifest = replace(scored, parameters={**scored.parameters, "output": output})
    write_manifest(str(folder), manifest)
    baseline = find_baseline(night.config.baseline, day, manifest, night.folders)
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
        baseline=tuple(day.isoformat() for day in baseline.days),
        means=day_means(read_dataset(str(folder), MEANS.name), manifest),
        changes=changes(folder, baseline) if manifest.conversations.in_means else {},
        counts=day_counts(manifest),
        started=started.isoformat(timespec="seconds"),
        seconds=_seconds(night, started),
        warnings=manifest.warnings,
        pool=day_pool(manifest),
        own_metrics=manifest.own_metrics or UNSET,
        outcomes=manifest.outcomes or UNSET,
    )
    views = night.dependencies.views
    (folder / REPORT).write_bytes(views.day(str(folder), manifest).page)
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
    night.dependencies.run(config, night.beam_arguments)
    scratch = _scratch(night.config, day)
    if scratch is not None:
        fetch(scratch, folder)
        discard(scratch)


def _seconds(night: Night, started: datetime) -> float:
    return round((night.dependencies.now() - started).total_seconds(), 3)
