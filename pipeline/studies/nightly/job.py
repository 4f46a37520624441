"""The nightly job: which days it runs, and in what order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from msgspec import Struct

from goodgain.pipeline.results.atomic_files import write_whole
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.results.folder import REPORT
from goodgain.pipeline.results.lock import LockedError, lock_folder
from goodgain.pipeline.studies.gate.gate_file import load_gate
from goodgain.pipeline.studies.nightly.config import NightlyConfig
from goodgain.pipeline.studies.nightly.days.days import (
    DayFolders,
    LateFiles,
    days_between,
    find_late_files,
    patterns_of,
)
from goodgain.pipeline.studies.nightly.days.entry import DayEntry
from goodgain.pipeline.studies.nightly.days.history import read_current_entries, write_history
from goodgain.pipeline.studies.nightly.dependencies import Dependencies
from goodgain.pipeline.studies.nightly.night import Night, run_config, run_day
from goodgain.pipeline.studies.nightly.notify import (
    document_of_day,
    document_of_failure,
    is_news,
    notify,
)
from goodgain.transforms.core.errors import GoodGainError, UsageError, problem_of
from goodgain.transforms.read import find_inputs

# The worst exit code of several days counts.
_GRAVEST = (
    ExitCode.FAILED,
    ExitCode.USAGE,
    ExitCode.DATA_QUALITY,
    ExitCode.REGRESSION,
    ExitCode.DONE,
)


class NightlyRequest(Struct, frozen=True):
    """The days that one call of the job should run.

    Attributes:
      day: the day to run; without it and `backfill`, yesterday (UTC).
      backfill: first and last day of a range; its days without output are run.
      rerun_late: also run the days again whose input has changed.
    """

    day: date | None = None
    backfill: tuple[date, date] | None = None
    rerun_late: bool = False


class NightlyResult(Struct, frozen=True):
    """The entries of the days that were run, in order, and days whose input has changed since."""

    entries: tuple[DayEntry, ...]
    late: tuple[LateFiles, ...]

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the worst verdict."""
        codes = {entry.exit_code for entry in self.entries}
        return next((code for code in _GRAVEST if code in codes), ExitCode.DONE)


def run_nightly(
    config: NightlyConfig,
    request: NightlyRequest,
    beam_arguments: Sequence[str],
    dependencies: Dependencies,
) -> NightlyResult:
    """Run the job; tell the command of `notify` of each day that did not pass, or passes again.

    Raises:
      UsageError: the configuration, the gate or the run's options cannot be used, or the day is in
        the future.
      LockedError: another job is using the same output; no notification is sent.
      GoodGainError: the history cannot be written.
    """
    try:
        return _run(config, request, beam_arguments, dependencies)
    except LockedError:
        raise
    except OSError as error:
        _notify_failure(error, config, dependencies)
        raise GoodGainError(f"{config.output} cannot be used: {problem_of(error)}.") from error
    except Exception as error:
        _notify_failure(error, config, dependencies)
        raise


def _run(
    config: NightlyConfig,
    request: NightlyRequest,
    beam_arguments: Sequence[str],
    dependencies: Dependencies,
) -> NightlyResult:
    config.check_files()
    folders, views = DayFolders(Path(config.output)), dependencies.views
    now = dependencies.now()
    today = now.date()
    options = run_config(config, today, folders.output)
    _ = options.own  # makes metrics of the user known to the gate
    night = Night(
        config=config,
        gate=None if config.gate is None else load_gate(config.gate),
        beam_arguments=(*config.engine_options, *beam_arguments),
        folders=folders,
        dependencies=dependencies,
    )
    if _last_day(request, today) > today:
        raise UsageError(f"{_last_day(request, today)} is in the future (UTC): give a past day.")
    # To find mistakes before any work is done.
    dependencies.check_engine(options.runner, night.beam_arguments)
    folders.output.mkdir(parents=True, exist_ok=True)
    with lock_folder(folders.output, now):
        for name in folders.repair():
            dependencies.say(f"Cleaned up {name}, left by an interrupted job.")
        entries = []
        for day in _days(config, request, folders, today):
            previous = _previous(read_current_entries(folders), day)
            entry = run_day(night, day)
            entries.append(entry)
            history = read_current_entries(folders, entry)
            write_history(folders, history, views.history(history, ()))
            if config.notify is not None and is_news(entry, previous):
                news = document_of_day(entry, str(folders.published_folder(day)))
                notify(config.notify, news, dependencies.say)
        late = _find_late_files(config, folders, _last_day(request, today))
        history = read_current_entries(folders)
        write_history(folders, history, views.history(history, late))
        write_whole(folders.output / REPORT, views.nights(history))
    return NightlyResult(tuple(entries), tuple(late))


def _notify_failure(error: Exception, config: NightlyConfig, dependencies: Dependencies) -> None:
    if config.notify is not None:
        news = document_of_failure(str(error) or type(error).__name__, config.output)
        notify(config.notify, news, dependencies.say)


def _previous(entries: Sequence[DayEntry], day: date) -> DayEntry | None:
    """The latest entry that a new run of a day comes after, its own included."""
    return next((entry for entry in reversed(entries) if entry.day <= day), None)


def _days(
    config: NightlyConfig, request: NightlyRequest, folders: DayFolders, today: date
) -> list[date]:
    """The days to run, ascending, so that the baseline of each is up to date."""
    days = {_last_day(request, today)}
    if request.backfill is not None:
        days = set(days_between(*request.backfill)).difference(folders.list_published_days())
    if request.rerun_late:
        days.update(
            late.day for late in _find_late_files(config, folders, _last_day(request, today))
        )
    return sorted(days)


def _last_day(request: NightlyRequest, today: date) -> date:
    """The latest day of a request."""
    if request.backfill is not None:
        return request.backfill[1]
    return request.day or today - timedelta(days=1)


def _find_late_files(config: NightlyConfig, folders: DayFolders, last: date) -> list[LateFiles]:
    """The last `late_days` published days whose input has changed since their run."""
    changed_days = []
    for day in folders.list_published_days():
        if not timedelta() <= last - day <= timedelta(days=config.late_days):
            continue
        try:
            inputs = find_inputs(patterns_of(config.input, day))
        except UsageError:
            continue  # its traces were deleted
        one = find_late_files(day, read_run(str(folders.published_folder(day))).inputs, inputs)
        if one is not None:
            changed_days.append(one)
    return changed_days
