"""The end of a run: publishes what the pipeline wrote below `.unfinished/` (SPEC 6).

The program that starts a run finishes it when the engine is done. If it only submits the job and
does not wait, the last step of the graph does it, and the engine may repeat that step after a
failure at any point. So every part can be repeated: report and manifest are made once and stored
beside the data, files already moved stay, and the manifest is moved last.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeAlias

import msgspec
from msgspec import Struct

from goodgain.pipeline.document.model import Sentence
from goodgain.pipeline.document.report import Report
from goodgain.pipeline.results import finished_run, folder
from goodgain.pipeline.results.balance import check_complete
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.output_kinds import RUN_OUTPUTS
from goodgain.pipeline.results.replacement import publish
from goodgain.pipeline.results.sinks import WrittenFile
from goodgain.pipeline.results.wanted_means import MeansWanted, read_means
from goodgain.pipeline.run.hosts.counts import Counts
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.judgments import describe
from goodgain.pipeline.run.plan.outcome import RunOutcome, manifest_of_run
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.judgments.judgment import QrelsProblem
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.scoring.id_checks import ContradictedId
from goodgain.transforms.filesystems import delete, is_full, is_local, join, open_plain

SUMMARY = "summary.json"
# Builds a report from the folder of the outputs and their manifest.
BuildReport: TypeAlias = Callable[[str, RunManifest], Report]
_ALWAYS_CHECKED = ("R", "unlabelled", "N")  # means that warnings need, besides ranking metrics


class Summary(Struct, frozen=True):
    """The facts for finishing a run, which the pipeline writes last.

    Attributes:
      qrels_problems: the first problems with the judgments; if there are any, nothing may be used.
      contradicted_ids: examples for a warning.
    """

    files: list[WrittenFile]
    counts: Counts
    qrels_problems: list[QrelsProblem] = []
    contradicted_ids: list[ContradictedId] = []


class StartedRun(Struct, frozen=True):
    """The facts for the manifest that are known before the pipeline runs.

    Attributes:
      started: UTC; distinguishes this run from an earlier one in the same folder.
      area: name of the run's folder for unpublished files, which differs from that of another run
        that writes to the same output folder at the same time.
      replaces: start time of the run whose outputs were there before; None if there were none.
      build_report: a function of a module, since workers may call it; None = no report.
    """

    config: RunConfig
    evaluation: Evaluation
    engine: str
    started: datetime
    area: str = ""
    replaces: str | None = None
    build_report: BuildReport | None = None

    @property
    def folder(self) -> str:
        """The output folder."""
        return self.config.output


def write_summary(
    unfinished: str,
    files: Iterable[WrittenFile],
    counts: Counts,
    qrels_problems: list[QrelsProblem],
    contradicted_ids: list[ContradictedId],
) -> None:
    """Write the summary that `finish` needs from the pipeline."""
    in_order = sorted(files, key=lambda file: file.path)
    summary = Summary(in_order, counts, qrels_problems, contradicted_ids)
    folder.write_file(unfinished, SUMMARY, msgspec.json.encode(summary, order="sorted"))


class FinishedRun(Struct, frozen=True):
    """A run whose outputs are published.

    Attributes:
      highlights: of its report; none if an earlier call built that.
    """

    manifest: RunManifest
    highlights: tuple[Sentence, ...] = ()


def finish(run: StartedRun, finished: datetime) -> FinishedRun:
    """Publish the outputs of a run, then its report, and finally its manifest.

    If a call was interrupted at any point, the next one does the rest.

    Args:
      finished: end of the run for the manifest, UTC; ignored once a call has made the manifest.

    Raises:
      UsageError: there are problems with the judgments.
      BalanceError: the records do not add up.
      GoodGainError: the outputs cannot be moved, or the folder now belongs to another run.
    """
    try:
        manifest = _read_own_manifest(run, run.folder)
        published = _publish(run, finished) if manifest is None else FinishedRun(manifest)
        folder.discard_unfinished(run.folder, run.area)
    except OSError as error:
        if is_full(error):
            raise GoodGainError(
                f"The disk is full, so the outputs cannot be moved to {run.folder}; "
                "free space, then run again with --overwrite."
            ) from error
        raise GoodGainError(
            f"The outputs cannot be moved to {run.folder} ({error}); run again with --overwrite."
        ) from error
    return published


def _publish(run: StartedRun, finished: datetime) -> FinishedRun:
    _check_folder(run)
    unfinished = folder.unfinished_folder(run.folder, run.area)
    with open_plain(join(unfinished, SUMMARY)) as file:
        summary = msgspec.json.decode(file.read(), type=Summary)
    if summary.qrels_problems:
        raise UsageError(describe(summary.qrels_problems, run.evaluation.qrels, open_plain))
    paths = [file.path for file in summary.files]
    manifest, report = _read_own_manifest(run, unfinished), None
    if manifest is None:
        folder.check_written(run.folder, [*paths, folder.MEANS_CSV], run.area)
        manifest = _manifest(run, summary, finished)
        if run.build_report is not None:
            report = run.build_report(unfinished, manifest)
            folder.write_file(unfinished, folder.REPORT, report.page)
        # If it exists, everything is decided and only moves are left.
        folder.write_manifest(unfinished, manifest)
    _check_folder(run)  # again, since building a report takes time
    if _read_own_manifest(run, run.folder) is None:
        # Without it, leftovers of an earlier run do not look finished.
        delete(join(run.folder, folder.MANIFEST))
    pages = [folder.REPORT] if run.build_report is not None else []
    publish(run.folder, [*paths, folder.MEANS_CSV, *pages], RUN_OUTPUTS, run.area)
    _check_folder(run, moved=True)
    folder.write_manifest(run.folder, manifest)
    return FinishedRun(manifest, report.highlights if report else ())


def start_time_in(place: str) -> str | None:
    """The start time of the run whose outputs are in a folder; None if there are none."""
    try:
        return str(finished_run.read_manifest(place).get("started"))
    except (UsageError, OSError):
        return None  # writing to it will report the error


def _check_folder(run: StartedRun, moved: bool = False) -> None:
    """Make sure that nobody else writes, or has written, to the folder of a run.

    Args:
      moved: whether all files have been moved; then another worker that finishes the same run may
        have done the rest.

    Raises:
      GoodGainError: another run writes or has written to it.
    """
    folder.check_claim(run.folder, run.area, or_none=moved)
    if start_time_in(run.folder) not in (None, run.replaces, folder.format_time(run.started)):
        raise GoodGainError(
            f"Another run has since written to {run.folder}, so this one publishes nothing "
            "there; give each run a folder of its own."
        )


def _read_own_manifest(run: StartedRun, place: str) -> RunManifest | None:
    """The manifest in a folder, if it is complete and of this run."""
    try:
        manifest = finished_run.read_run(place)
    except UsageError:
        return None
    is_own = folder.format_time(manifest.started) == folder.format_time(run.started)
    return manifest if is_own else None


def _manifest(run: StartedRun, summary: Summary, finished: datetime) -> RunManifest:
    rows: Counter[str] = Counter()
    for file in summary.files:
        rows[file.dataset] += file.rows
    files = run.evaluation.traces.files
    check_complete(summary.counts, rows, files)
    checked = frozenset((*_ALWAYS_CHECKED, *run.evaluation.scoring.ranking.names))
    to_check = read_means(
        folder.unfinished_folder(run.folder, run.area), MeansWanted(metrics=checked, at_end=True)
    )
    return manifest_of_run(
        run.config,
        run.evaluation,
        RunOutcome(
            counts=summary.counts,
            rows=rows,
            means=[MeanRow(**row) for row in to_check],
            engine=run.engine,
            started=run.started,
            finished=finished,
            sizes_after=[_size_now(file) for file in files],
            contradicted_ids=summary.contradicted_ids,
        ),
    )


def _size_now(file: InputFile) -> int | None:
    """The current size of a file; objects in object stores do not change while they are read."""
    if not is_local(file.path):
        return file.size
    try:
        return os.path.getsize(file.path)
    except OSError:
        return None
