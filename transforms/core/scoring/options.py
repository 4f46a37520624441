"""The settings of scoring that are options as they are; `Scoring` itself takes long to import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from goodgain.transforms.core.metrics.own_names import DEFAULT_METRICS, check_names
from goodgain.transforms.core.option import (
    COMMON,
    LABELS,
    MEANS,
    RANKING,
    SCORING,
    DeclaredOption,
    Option,
    Options,
    options_in,
)
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.label_rises import DocumentLabel
from goodgain.transforms.core.scoring.option_checks import (
    check_budgets,
    condition_texts,
    cost_names,
    outcome_texts,
    repeat_numbers,
)

GREATEST_MAX_I = 1_000  # each i has its means, and their intervals in the report
_GREATEST_G_MAX = 20


class ScoringOptions(Options, frozen=True, kw_only=True):
    """Settings of scoring that are options, each described where it is declared.

    `cost`, `outcome` and `usage` are None until the first records of the traces have been seen,
    which decide then; for scoring, None is none.
    """

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
    cost: Annotated[
        tuple[str, ...] | None,
        Option(
            MEANS,
            "NAME",
            "costs to use, like tokens,usd, or none; by default those of the first records, in a "
            "stream none",
            form="names",
            selects=True,
            check=cost_names,
        ),
    ] = None
    budget: Annotated[
        tuple[str, ...],
        Option(
            MEANS,
            "NAME=B",
            "also compute gains within a budget, like tokens=1000,5000",
            "means",
            selects=True,
            check=check_budgets,
        ),
    ] = ()
    outcome: Annotated[
        tuple[str, ...] | None,
        Option(
            MEANS,
            "NAME",
            "outcomes to use, like correct, rating>=0.7 (which makes 0 and 1) or errors:lower "
            "(lower is better), or none; by default those of the first records and of "
            + Remedy("outcomes")
            + ", in a stream only these",
            form="names",
            selects=True,
            check=outcome_texts,
        ),
    ] = None
    usage: Annotated[
        bool | None,
        Option(
            SCORING,
            "",
            "also compute what the agent opened and cited of what it found; by default if the "
            "first records say so, in a stream never",
            selects=True,
        ),
    ] = None
    metrics: Annotated[
        tuple[str, ...],
        Option(
            COMMON,
            "NAME",
            "metrics to compute and show, instead of the default ranking metrics: of ranking, like "
            "ndcg@10 (see `goodgain metrics`), your own, like my_metrics.py:mine, or those of "
            "every run, like CG",
            form="names",
            selects=True,
            check=check_names,
        ),
    ] = DEFAULT_METRICS
    duplicates: Annotated[
        Literal["compact", "hold_slot"],
        Option(
            RANKING,
            "HOW",
            "compact removes later copies from the ranked list, hold_slot counts them as "
            "non-relevant",
        ),
    ] = "compact"
    g_max: Annotated[
        int,
        Option(
            RANKING,
            "GAIN",
            "highest gain of the labelling scale, for err and nerr",
            at_least=1,
            at_most=_GREATEST_G_MAX,
        ),
    ] = GREATEST_GAIN
    relevance_threshold: Annotated[
        int | None,
        Option(
            RANKING,
            "GAIN",
            "smallest gain of a relevant result; " + Remedy("good_gain_threshold") + " by default",
        ),
    ] = None
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
    write_duplicates: Annotated[
        bool,
        Option(
            SCORING,
            "",
            "write one row for each duplicate: which result it repeats, and why; by default in a "
            "run, not in a stream",
            "means",
            selects=True,
        ),
    ] = False
    max_i: Annotated[
        int,
        Option(
            COMMON,
            "I",
            "last iteration i at which means are computed",
            "means",
            at_least=1,
            at_most=GREATEST_MAX_I,
            selects=True,
        ),
    ] = 10
    pass_: Annotated[
        tuple[str, ...],
        Option(
            MEANS,
            "CONDITION",
            "conditions on metrics of the whole turn (at N), like 'CG >= 5': how often repeats, "
            "which share the attribute of " + Remedy("cluster") + ", pass",
            "means",
            selects=True,
            check=condition_texts,
        ),
    ] = ()
    pass_k: Annotated[
        tuple[int, ...],
        Option(
            MEANS,
            "K",
            "numbers of repeats for pass@k (one passes) and pass^k (all do); 1 and the median "
            "number of repeats by default",
            "means",
            selects=True,
            check=repeat_numbers,
        ),
    ] = ()
    per_call: Annotated[
        bool,
        Option(
            RANKING,
            "",
            "also evaluate the ranked list of every single search call",
            "means",
            selects=True,
        ),
    ] = False
    bounds: Annotated[
        bool,
        Option(
            RANKING,
            "",
            "also compute the worst and best value that missing labels allow",
            "means",
            selects=True,
        ),
    ] = False


def options_of_values() -> dict[str, DeclaredOption]:
    """The options by which the values of a metric may differ; others select what is computed."""
    every = options_in(ScoringOptions, None).items()
    return {name: declared for name, declared in every if not declared.option.selects}


def find_scale_mistake(good_gain: int, relevance: int | None, g_max: int) -> tuple[str, str] | None:
    """The option that is beyond the scale of labels, and what it must be; None if none is."""
    if relevance is not None and not 1 <= relevance <= g_max:
        limits = f"must be from 1 to {g_max} (" + Remedy("g_max") + f"), not {relevance}"
        return "relevance_threshold", limits
    if relevance is None and good_gain > g_max:
        least = f"must be at least {good_gain} ("
        return "g_max", least + Remedy("good_gain_threshold") + f"), not {g_max}"
    return None


def relevance_threshold_of(parameters: Mapping[str, Any]) -> Any:
    """The threshold in effect, of options by their names: that of good gain unless it is given."""
    given = parameters.get("relevance_threshold")
    return parameters.get("good_gain_threshold") if given is None else given
