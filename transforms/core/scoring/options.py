"""The settings of scoring that are options as they are; `Scoring` itself takes long to import."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from goodgain.transforms.core.option import COMMON, RANKING, SCORING, Option


class ScoringOptions(Struct, frozen=True, kw_only=True):
    """Settings of scoring that are options, each described where it is declared."""

    without_failed: Annotated[
        bool, Option(SCORING, "", "leave search calls that failed out of all metrics")
    ] = False
    max_i: Annotated[
        int,
        Option(COMMON, "I", "last iteration i at which means are computed", "means", at_least=1),
    ] = 10
    per_call: Annotated[
        bool,
        Option(RANKING, "", "also evaluate the ranked list of every single search call", "means"),
    ] = False
    bounds: Annotated[
        bool,
        Option(
            RANKING, "", "also compute the worst and best value that missing labels allow", "means"
        ),
    ] = False
