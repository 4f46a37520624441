"""When conversations of a stream close, and what is kept of open ones."""

from __future__ import annotations

from typing import Annotated

from goodgain.transforms.core.option import LIMITS, TIME, Option, Options

_MINUTE = 60_000


class Closing(Options, frozen=True):
    """The rules for closing conversations of a stream, and limits on open ones; times are in ms.

    A conversation is closed when the watermark reaches the first of: `gap` after its last event;
    right after a record with `is_final`; `max_open` after the first record that arrived.
    If only flags for rejected records arrived, it is closed `gap` after the last flag's timestamp,
    or at the end of the stream if that flag has none.

    A record beyond `max_open_results` or `max_open_bytes`, and all later ones, are `rejected`, and
    the conversation's row counts them. Records that arrive `allowed_lateness` after the end of a
    conversation start a new one. `out_of_orderness` is a promise of the source and does not delay
    closing; engines that sort by time need it (see `ScoreStreamedPayloads`).

    Raises:
      UsageError: a value is too small.

    Example: see `WindowedMeans`.
    """

    gap: Annotated[
        int,
        Option(
            TIME,
            "SPAN",
            "close a conversation this long after its last event",
            at_least=1,
            form="duration",
        ),
    ] = 30 * _MINUTE
    allowed_lateness: Annotated[
        int,
        Option(
            TIME,
            "SPAN",
            "how long a closed conversation is remembered, so that its stragglers are counted as "
            "late",
            at_least=0,
            form="duration",
        ),
    ] = 60 * _MINUTE
    max_open: Annotated[
        int,
        Option(
            TIME,
            "SPAN",
            "close a conversation at this age, however busy it is",
            at_least=1,
            form="duration",
        ),
    ] = 24 * 60 * _MINUTE
    max_open_results: Annotated[
        int,
        Option(
            LIMITS,
            "N",
            "most results kept of an open conversation; the rest is only counted",
            at_least=1,
        ),
    ] = 100_000
    max_open_bytes: Annotated[
        int,
        Option(
            LIMITS,
            "N",
            "most bytes of compressed records kept of an open conversation; the rest is only "
            "counted",
            at_least=1,
        ),
    ] = 64 * 2**20
    out_of_orderness: Annotated[
        int,
        Option(
            TIME,
            "SPAN",
            "how far out of order a record may arrive without being late",
            at_least=0,
            form="duration",
        ),
    ] = 5 * _MINUTE
    live: Annotated[
        bool,
        Option(
            TIME,
            "",
            "also write the rows of an iteration as soon as the watermark has passed it",
        ),
    ] = False
