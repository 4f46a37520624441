"""What remains of a folded turn to score: numbers, without its calls and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.metrics.prefix import NO_COUNTS
from goodgain.transforms.core.metrics.turn import CallCounts, TopicGains, Turn
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.aspects import TurnCoverage
from goodgain.transforms.core.scoring.delivery import Delivered
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.id_checks import ContradictedId, id_checks
from goodgain.transforms.core.scoring.ranked_lists import LabelledList, find_raised_ranks, turn_list
from goodgain.transforms.core.scoring.settings import Scoring


class Tally(Struct, frozen=True):
    """A folded conversation without its calls and results.

    Attributes:
      last_turn: the turn that is scored; None without any usable record.
      calls, usages: number of search calls of the last turn, and of its records of documents that
        were opened or cited.
      earlier_records: number of records of earlier turns.
      times: timestamps of the usable records, in ms.
      turn: what its metrics are computed from.
      labelled_copies, conflicts_between_texts, judgments_met_again: numbers of those in
        `FoldedTurn`.
      counts: results, duplicates and labels of the last turn, by dotted name.
      contradicted_ids: examples of duplicates by ids that URL and title contradict.
    """

    last_turn: int | None
    attributes: dict[str, str]
    calls: int
    usages: int
    earlier_records: int
    conflicting: int
    times: Sequence[int]
    turn: Turn
    labelled_copies: int
    conflicts_between_texts: int
    judgments_met_again: int | None
    counts: Mapping[str, int]
    contradicted_ids: Sequence[ContradictedId] = ()


def tally_of(
    delivered: Delivered,
    turn: FoldedTurn,
    judged: list[int],
    scoring: Scoring,
    pool: TopicGains | None = None,
    coverage: TurnCoverage | None = None,
) -> Tally:
    """The tally of a folded turn; `judged` has the gains of the judged documents."""
    usages = len(delivered.usages())
    by_iteration = groupby(turn.calls, key=attrgetter("iteration"))
    ranked = turn_list(turn, scoring.hold_slot)
    details = TurnDetails(turn, scoring.rules)
    checks = id_checks(turn, details, scoring.rules)
    return Tally(
        delivered.last_turn,
        delivered.attributes(),
        len(delivered.searches()),
        usages,
        len(delivered.calls) - len(delivered.searches()) - usages,
        delivered.conflicting,
        [call.timestamp for call in delivered.calls if call.timestamp is not None],
        Turn(
            turn.iterations,
            ranked.labels,
            ranked.scores,
            judged,
            scoring.ranking.options,
            scoring.hold_slot,
            turn.label_conflicts,
            delivered.redelivered,
            [[call.costs for call in calls] for _, calls in by_iteration],
            scoring.costs,
            pool,
            ranked.call_ends,
            _call_counts(turn.calls),
            delivered.outcomes(),
            find_raised_ranks(turn, scoring.hold_slot),
            aspects=None if coverage is None else coverage.of_turn(ranked),
        ),
        turn.labelled_copies,
        turn.conflicts_between_texts,
        None if turn.judgments_met_again is None else len(turn.judgments_met_again),
        {
            **details.counts(),
            **data_counts.data_counts(
                data_counts.labels_of(turn),
                data_counts.count_unidentified(turn, scoring.rules),
                turn.iterations,
                checks,
            ),
            **_later_good_counts(turn, ranked, scoring),
        },
        checks.examples,
    )


def _later_good_counts(turn: FoldedTurn, ranked: LabelledList, scoring: Scoring) -> dict[str, int]:
    if turn.pooled is not None:  # good is also what has no label in the pool
        ranked = turn_list(replace(turn, judged=turn.labels), scoring.hold_slot)
    first = turn.iterations[0] if turn.iterations else NO_COUNTS
    return data_counts.later_good_counts(
        ranked.labels,
        first.results if scoring.hold_slot else first.unique,
        scoring.ranking.greatest_cutoff,
        scoring.good_gain_threshold,
    )


def _call_counts(calls: Sequence[CallFingerprint]) -> CallCounts:
    """Counts of the search calls of a turn."""
    queries = [call.query for call in calls if call.query is not None]
    by_tool: dict[str, tuple[int, int]] = {}
    for call in calls:
        if call.tool is not None:
            of_tool, failed = by_tool.get(call.tool, (0, 0))
            by_tool[call.tool] = of_tool + 1, failed + call.failed
    return CallCounts(
        sum(not call.results for call in calls),
        sum(call.failed for call in calls),
        len(queries) - len(set(queries)),
        by_tool,
    )
