"""Finds the earlier days that a day is compared with, and merges their outputs in one folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.datasets import conversations, iterations
from goodgain.pipeline.results.finished_run import read_columns, read_dataset, read_run
from goodgain.pipeline.results.folder import write_manifest
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.studies.comparison.comparability import Mismatch, find_mismatches
from goodgain.pipeline.studies.nightly.config import BaselineChoice
from goodgain.pipeline.studies.nightly.days.days import DayFolders
from goodgain.pipeline.studies.nightly.days.history import DAY_FILE, read_entry
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.groups import groups_in
from goodgain.transforms.core.metrics.own import own_metrics_of
from goodgain.transforms.core.metrics.own_names import ranking_metrics_of
from goodgain.transforms.core.metrics.plan import plan_of
from goodgain.transforms.core.wording import format_count, pluralize
from goodgain.transforms.filesystems import delete

_MERGED_FORMAT = FORMATS["avro"]


class Baseline(Struct, frozen=True):
    """The baseline that a day is compared with.

    Attributes:
      days: the days of the baseline, ascending; empty without one.
      folder: contains the conversations of these days; None without a baseline.
      lacking: why there is no baseline yet: no earlier day was good, or the good ones measured
        something else, for example after a change of rules; None with a baseline.
      note: which good days were left out, and why.
    """

    days: tuple[date, ...] = ()
    folder: Path | None = None
    lacking: str | None = None
    note: str | None = None


def find_baseline(
    choice: BaselineChoice,
    day: date,
    manifest: RunManifest,
    folders: DayFolders,
) -> Baseline:
    """The baseline of a day.

    Only earlier days qualify, so that rerunning a day uses the same baseline, and only days whose
    run measured the same thing.

    Raises:
      UsageError: the pinned day has no outputs, or measured something else.
    """
    if choice.pinned == day:
        return Baseline(lacking="it is the pinned day itself")
    if choice.pinned is not None:
        return _use_pinned(choice.pinned, manifest, folders)
    earlier_days = [earlier for earlier in folders.list_published_days() if earlier < day]
    entries = {earlier: read_entry(folders.published_folder(earlier)) for earlier in earlier_days}
    good = [earlier for earlier, entry in entries.items() if entry and entry.verdict == "passed"]
    without_entry = [earlier for earlier, entry in entries.items() if entry is None]
    damaged = _note_damaged(without_entry) if without_entry else ""
    if not good:
        return Baseline(lacking="no earlier day was good" + (f" ({damaged})" if damaged else ""))
    days: list[date] = []
    different: list[list[Mismatch]] = []
    problems: list[UsageError] = []
    for earlier in reversed(good):
        try:
            of_day = read_run(str(folders.published_folder(earlier)))
        except UsageError as error:  # of another version, or damaged; today's verdict is due anyway
            problems.append(error)
            continue
        if differing := find_mismatches(of_day, manifest):
            different.append(differing)
        else:
            days.append(earlier)
        if len(days) == choice.days:
            break
    notes = []
    if different:
        notes.append(
            f"{format_count(len(different), 'earlier good day')} could not be used as baseline, "
            f"since {pluralize(len(different), 'it', 'they')} measured "
            f"something else: {', '.join(map(str, different[0]))}"
        )
    if problems:
        notes.append(
            f"{format_count(len(problems), 'earlier good day')} could not be used as baseline: "
            f"{str(problems[0]).rstrip('.')}"
        )
    if damaged:
        notes.append(damaged)
    note = "; ".join(notes) or None
    if not days:
        return Baseline(lacking=note)
    days.reverse()
    if len(days) == 1:
        return Baseline(tuple(days), folders.published_folder(days[0]), note=note)
    return Baseline(tuple(days), _write_merged(days, folders), note=note)


def _note_damaged(days: Sequence[date]) -> str:
    """A note on days whose entries cannot be read."""
    return (
        f"the {DAY_FILE} of {', '.join(day.isoformat() for day in days)} cannot be read, so "
        f"{pluralize(len(days), 'it is', 'they are')} neither baseline nor in the history: run "
        f"{pluralize(len(days), 'that day', 'those days')} again"
    )


def _use_pinned(pinned: date, manifest: RunManifest, folders: DayFolders) -> Baseline:
    if pinned not in folders.list_published_days():
        raise UsageError(
            f"The baseline {pinned.isoformat()} is not in {folders.output}: run that day first, "
            "or pin another."
        )
    outputs = folders.published_folder(pinned)
    if differing := find_mismatches(read_run(str(outputs)), manifest):
        raise UsageError(
            f"The baseline {pinned.isoformat()} measured something else: it differs in "
            f"{', '.join(map(str, differing))}; run it again, or pin another day."
        )
    return Baseline((pinned,), outputs)


def _write_merged(days: Sequence[date], folders: DayFolders) -> Path:
    """Write the conversations of several days into one folder, like the output of one run.

    Ids are prefixed with the day, since the same id on another day is another conversation.
    """
    merged = folders.baseline()
    delete(str(merged))
    outputs = [folders.published_folder(day) for day in days]
    manifests = [read_run(str(folder)) for folder in outputs]
    of_runs = [manifest.options.metrics for manifest in manifests]
    common = [name for name in of_runs[-1] if all(name in of_run for of_run in of_runs)]
    manifest, metrics = manifests[-1], ranking_metrics_of(common)
    columns = [read_columns(str(folder), "conversations") for folder in outputs]
    judged = all("qrels_best" in of_day for of_day in columns)
    in_all = [name for name in columns[0] if all(name in of_day for of_day in columns)]
    own = [metric for metric in own_metrics_of(manifest.own_metrics) if metric.name in in_all]
    plan = plan_of(metrics, 1, groups_in(in_all), own=tuple(own))
    for dataset in (conversations(plan, judged), iterations(plan)):
        (merged / dataset.name).mkdir(parents=True)
        names = [column.name for column in dataset.columns]
        with open(merged / dataset.name / f"part-0{_MERGED_FORMAT.suffix}", "wb") as file:
            _MERGED_FORMAT.write(dataset, _rows(days, folders, dataset.name, names), file)
    of_all = replace(
        manifest,
        parameters={**manifest.parameters, "metrics": common},
        own_metrics=tuple(metric.described for metric in own),
        datasets={},  # it has the row counts of one day only
    )
    write_manifest(str(merged), of_all)
    return merged


def _rows(
    days: Sequence[date], folders: DayFolders, dataset: str, names: Sequence[str]
) -> Iterator[Row]:
    for day in days:
        for row in read_dataset(str(folders.published_folder(day)), dataset):
            values = {name: row[name] for name in names}
            yield values | {"conversation_id": f"{day.isoformat()}/{row['conversation_id']}"}
