"""What the nightly job depends on outside its own code: time, messages, the run, pages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from msgspec import Struct

from goodgain.pipeline.run.engines.runners import create
from goodgain.pipeline.run.hosts.batch import run
from goodgain.pipeline.run.hosts.finish import BuildReport
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.studies.gate.outcome import Outcome
from goodgain.pipeline.studies.nightly.days.days import LateFiles
from goodgain.pipeline.studies.nightly.days.entry import DayEntry


def _say(message: str) -> None:
    sys.stderr.write(f"goodgain: {message}\n")


class NightViews(Struct, frozen=True):
    """What people see of the nights.

    Attributes:
      day: builds the report of a day.
      nights: builds the page over all days.
      history: the table of all days as Markdown, and those whose input has changed since.
      gate: the gate's outcomes of a day as Markdown, from its date.
    """

    day: BuildReport
    nights: Callable[[Sequence[DayEntry]], bytes]
    history: Callable[[Sequence[DayEntry], Sequence[LateFiles]], str]
    gate: Callable[[Sequence[Outcome], str], str]


class Dependencies(Struct, frozen=True):
    """What the job calls outside its own code; tests replace some of it.

    Attributes:
      run: scores a day, see `goodgain.pipeline.run.hosts.batch.run`.
      check_engine: refuses an engine, or options for it, that cannot be used.
    """

    views: NightViews
    now: Callable[[], datetime] = partial(datetime.now, UTC)
    run: Callable[[RunConfig, Sequence[str]], int] = run
    check_engine: Callable[[str, Sequence[str]], object] = partial(create, command="nightly")
    say: Callable[[str], None] = _say

    @classmethod
    def quiet(cls, views: NightViews) -> Dependencies:
        """The real ones, with days scored without progress."""
        return cls(views, run=partial(run, quiet=True))
