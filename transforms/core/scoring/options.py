"""The settings of scoring that are options as they are; `Scoring` itself takes long to import."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from goodgain.transforms.core.option import COMMON, LABELS, RANKING, SCORING, Option
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.scoring.label_rises import DocumentLabel


class ScoringOptions(Struct, frozen=True, kw_only=True):
    """Settings of scoring that are options, each described where it is declared."""

    good_gain_threshold: Annotated[
        int,
        Option(
            COMMON,
            "GAIN",
            "smallest gain of a good result",
            "labels",
            at_least=1,
            at_most=GREATEST_GAIN,
        ),
    ] = 2
    document_label: Annotated[
        DocumentLabel,
        Option(
            LABELS,
            "WHICH",
            "label of a document: that of its first occurrence, or, where passages are labelled, "
            "the best so far",
        ),
    ] = "first"
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
