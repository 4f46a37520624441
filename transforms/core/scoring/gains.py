"""Gains of the iterations of a turn, single and cumulated (SPEC 5)."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.scoring.costs import empty_iteration_costs
from goodgain.transforms.core.scoring.rows import IterationRow

MOST_ITERATIONS_FOR_ALL_GOOD = 100
_COUNTS_AT_N = ("R", "UR", "GR", "DupR")
_GAINS_AT_N = ("CG", "RG", "DCG", "DRG", "RAG", "DRAG", "SRE", "SRR")


class IterationCounts(Struct):
    """Counts of one iteration, from which the sums of SPEC 5 are computed.

    Attributes:
      iteration: the raw number.
      results, unique, good, gain: R, UR, GR, and G, the sum of gains over GR.
    """

    iteration: int
    calls: int = 0
    results: int = 0
    unique: int = 0
    good: int = 0
    gain: int = 0
    unlabelled: int = 0


def discount(i: int) -> float:
    """w(i) = 1 / log2(i + 1) (SPEC 5; Järvelin and Kekäläinen 2002, with base 2)."""
    return 1 / log2(i + 1)


def iteration_rows(
    conversation_id: str,
    turn: int,
    attributes: dict[str, str],
    iterations: Sequence[IterationCounts],
) -> list[IterationRow]:
    """The rows of a turn's iterations i = 1..N."""
    rows = []
    results = unique = good = cumulated = 0
    discounted = average = discounted_average = 0.0
    for i, counts in enumerate(iterations, start=1):
        weight = discount(i)
        average_gain = counts.gain / counts.results if counts.results else 0.0
        results += counts.results
        unique += counts.unique
        good += counts.good
        cumulated += counts.gain
        discounted += weight * counts.gain
        average += average_gain
        discounted_average += weight * average_gain
        rows.append(
            IterationRow(
                conversation_id,
                turn,
                attributes,
                i,
                counts.iteration,
                counts.calls,
                R_i=counts.results,
                UR_i=counts.unique,
                GR_i=counts.good,
                Dup_i=counts.results - counts.unique,
                G_i=counts.gain,
                unlabelled_i=counts.unlabelled,
                AvgGain_i=average_gain,
                R_at_i=results,
                UR_at_i=unique,
                GR_at_i=good,
                DupR_at_i=results - unique,
                CG_at_i=cumulated,
                RG_at_i=cumulated / i,
                DCG_at_i=discounted,
                DRG_at_i=discounted / i,
                RAG_at_i=average / i,
                DRAG_at_i=discounted_average / i,
                SRE_at_i=good / results if results else 0.0,
                SRR_at_i=(results - unique) / results if results else 0.0,
            )
        )
    return rows


def values_at_n(iterations: Sequence[IterationRow]) -> dict[str, Any]:
    """The columns of a conversation's row that are those of its last iteration (SPEC 6)."""
    if not iterations:
        return dict.fromkeys(_COUNTS_AT_N, 0) | dict.fromkeys(_GAINS_AT_N)
    return {name: getattr(iterations[-1], f"{name}_at_i") for name in _COUNTS_AT_N + _GAINS_AT_N}


def extended(last: IterationRow, i: int) -> IterationRow:
    """Row i if the conversation had continued with empty iterations (SPEC 6, `all`)."""
    stretch = last.i / i
    return replace(
        last,
        i=i,
        calls=0,
        R_i=0,
        UR_i=0,
        GR_i=0,
        Dup_i=0,
        G_i=0,
        unlabelled_i=0,
        AvgGain_i=0.0,
        RG_at_i=last.CG_at_i / i,
        DRG_at_i=last.DCG_at_i / i,
        RAG_at_i=last.RAG_at_i * stretch,
        DRAG_at_i=last.DRAG_at_i * stretch,
        costs=empty_iteration_costs(last.costs) if last.costs else last.costs,
    )


def iterations_for_all_good_results(iterations: Sequence[IterationCounts]) -> int | None:
    """The smallest i by which all good results were retrieved, at most 100; None without any."""
    last = _last_good(iterations)
    return min(last, MOST_ITERATIONS_FOR_ALL_GOOD) if last else None


def iterations_after_last_good(iterations: Sequence[IterationCounts]) -> int:
    """N minus the last i with a new good result; N if there is none."""
    return len(iterations) - _last_good(iterations)


def _last_good(iterations: Sequence[IterationCounts]) -> int:
    return max((i for i, counts in enumerate(iterations, start=1) if counts.good), default=0)
