"""A report: its page, and what a terminal says of it."""

from __future__ import annotations

from msgspec import Struct

from goodgain.pipeline.document.model import Sentence


class Report(Struct, frozen=True):
    """A report of a run.

    Attributes:
      page: the content of `report.html`.
      highlights: what the page found that a terminal shows, too.
    """

    page: bytes
    highlights: tuple[Sentence, ...] = ()
