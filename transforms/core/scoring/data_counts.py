"""One conversation's contribution to the counts behind data warnings (SPEC 10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from goodgain.transforms.core.dedup.evidence import FingerprintLayout, layout_of
from goodgain.transforms.core.dedup.keys import is_text_key
from goodgain.transforms.core.dedup.rules import (
    DEFAULT_TYPE,
    GENERIC_ID,
    URL,
    RuleTable,
    is_named_id,
)
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.metrics.turn import CallCounts, IterationCounts
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.id_checks import IdChecks

LABELS = tuple(f"data.label_{gain}" for gain in range(GREATEST_GAIN + 1))
UNIDENTIFIED = "data.unidentified"
REPEATABLE, REPEATS = "data.repeatable", "data.repeats"
OF_ONE_ITERATION = "data.of_one_iteration"
IDS_COMPARED, IDS_CONTRADICTED = "data.ids_compared", "data.ids_contradicted"
GOOD_LATER, GOOD_BEYOND = "data.good_later", "data.good_beyond_cutoff"
TIMES, AHEAD = "data.times", "data.times_ahead"
BEFORE_1990, IN_SECONDS = "data.times_before_1990", "data.times_in_seconds"
RESULTS, UNLABELLED = "results.total", "results.unlabelled"
EXCLUDED = "results.excluded"
UNIQUE, GOOD = "results.unique", "results.good"
OUTSIDE_POOL, WEAK_DOCUMENTS = "pool.outside_pool", "pool.weak_documents"
LABELLED_COPIES, CONFLICTS = "results.labelled_duplicates", "results.label_conflicts"
CONFLICTS_BETWEEN_TEXTS = "data.label_conflicts_between_texts"
MET_AGAIN = "qrels.judgments_met_again"
SIMILAR_NAMES = "qrels.similar_names"
WITHOUT_TOPIC = "qrels.conversations_without_topic"
SEVERAL_TOPICS = "qrels.conversations_with_several_topics"
CONVERSATIONS = "conversations.total"
SCORED, EARLIER_TURN = "records.scored", "records.earlier_turn"
REDELIVERED, CONFLICTING = "records.redelivered", "conflicting_redeliveries"
CALLS, CALLS_EMPTY, CALLS_FAILED = "calls.total", "calls.empty", "calls.failed"
QUERIES_REPEATED = "calls.queries_repeated"
# Every count behind a warning about conversations; sums for windows and slices are tuples in this
# order.
COUNTED = (
    RESULTS, UNLABELLED, LABELLED_COPIES, CONFLICTS, CONFLICTS_BETWEEN_TEXTS, MET_AGAIN,
    *LABELS, UNIDENTIFIED,
    REPEATABLE, REPEATS, OF_ONE_ITERATION,
    TIMES, BEFORE_1990, IN_SECONDS, AHEAD,
    UNIQUE, GOOD, OUTSIDE_POOL, WEAK_DOCUMENTS,
    SCORED, EARLIER_TURN, REDELIVERED, CONFLICTING,
    IDS_COMPARED, IDS_CONTRADICTED, GOOD_LATER, GOOD_BEYOND,
    CALLS, CALLS_FAILED,
)  # fmt: skip
CALLS_BY_TOOL, FAILED_BY_TOOL = "calls_by_tool", "failed_calls_by_tool"
MILLIS_OF_1990 = 631_152_000_000
MILLIS_A_DAY = 86_400_000
_EARLIEST_SECONDS = MILLIS_OF_1990 // 1_000
_LATEST_SECONDS = 4_102_444_800  # 2100


def data_counts(
    by_gain: Mapping[int, int],
    unidentified: int,
    iterations: Sequence[IterationCounts],
    checks: IdChecks,
) -> dict[str, int]:
    """The nonzero counts of a conversation's scored turn, by dotted name."""
    counts = {LABELS[gain]: results for gain, results in by_gain.items()}
    counts[UNIDENTIFIED] = unidentified
    counts[IDS_COMPARED], counts[IDS_CONTRADICTED] = checks.compared, checks.contradicted
    results = sum(iteration.results for iteration in iterations)
    if len(iterations) > 1:
        counts[REPEATABLE] = results
        counts[REPEATS] = results - sum(iteration.unique for iteration in iterations)
    else:
        counts[OF_ONE_ITERATION] = results
    return {name: count for name, count in counts.items() if count}


def call_counts(calls: int, counts: CallCounts) -> dict[str, int]:
    """The nonzero counts of a turn's search calls, by dotted name."""
    named = {
        CALLS: calls,
        CALLS_EMPTY: counts.empty,
        CALLS_FAILED: counts.failed,
        QUERIES_REPEATED: counts.repeated,
    }
    for tool, (of_tool, failed) in counts.by_tool.items():
        named[f"{CALLS_BY_TOOL}.{tool}"] = of_tool
        named[f"{FAILED_BY_TOOL}.{tool}"] = failed
    return {name: count for name, count in named.items() if count}


def topic_counts(
    conversation_id: str, attributes: Iterable[Mapping[str, str]], keys: LabelKeys | None
) -> dict[str, int]:
    """Whether a conversation has no topic, or several; nothing if no judgments are joined.

    Args:
      attributes: those of its calls.
    """
    if keys is None:
        return {}
    topics = {keys.topic(conversation_id, values) for values in attributes}
    return {WITHOUT_TOPIC: int(topics == {""}), SEVERAL_TOPICS: int(len(topics - {""}) > 1)}


def excluded_counts(excluded: int | None) -> dict[str, int]:
    """The number of results that were left out; nothing without exclusions."""
    return {} if excluded is None else {EXCLUDED: excluded}


def later_good_counts(
    labels: Sequence[int], later_from: int, cutoff: int | None, good_gain_threshold: int
) -> dict[str, int]:
    """The number of good documents found after the first iteration, and of those beyond a cutoff.

    Args:
      labels: those of the turn's list, by rank.
      later_from: number of ranks of the first iteration.
      cutoff: None = nothing is beyond it.
    """
    if cutoff is None:
        return {}
    later = sum([label >= good_gain_threshold for label in labels[later_from:]])
    if not later:
        return {}
    beyond = labels[max(later_from, cutoff) :]
    return {
        GOOD_LATER: later,
        GOOD_BEYOND: sum([label >= good_gain_threshold for label in beyond]),
    }


def labels_of(turn: FoldedTurn) -> Counter[int]:
    """The number of results of a turn by effective label."""
    of_trace = turn.pooled is None
    labels = [result.gain for result in turn.results] if of_trace else turn.labels
    return Counter([label for label in labels if label is not None])


def count_unidentified(turn: FoldedTurn, rules: RuleTable) -> int:
    """The number of results of a turn that nothing identifies."""
    # There are few distinct codes.
    return sum(
        results
        for codes, results in Counter([result.codes for result in turn.results]).items()
        if not identifies(layout_of(codes), rules)
    )


def order_counts(counts: Mapping[str, int]) -> tuple[int, ...]:
    """The counts of COUNTED, in its order."""
    return tuple([counts.get(name, 0) for name in COUNTED])


def identifies(layout: FingerprintLayout, rules: RuleTable) -> bool:
    """Whether a result has an id that counts, a URL, or a text that proposes a candidate."""
    applicable = rules.of_type(layout.type_number)
    any_id = applicable.name == DEFAULT_TYPE
    for attribute, _ in layout.values:
        if attribute in (GENERIC_ID, URL) or attribute in applicable.definitive:
            return True
        if any_id and is_named_id(attribute) and attribute not in rules.containers:
            return True
    return layout.start_and_end is not None or any(
        is_text_key(attribute) for attribute, _ in layout.keys
    )


def times_counts(timestamps: Sequence[int], clock: int | None) -> dict[str, int]:
    """The number of timestamps of usable records, and of odd ones among them.

    Args:
      clock: start of the run in ms, to detect times ahead; None if unknown, as in a stream.
    """
    if not timestamps:
        return {}
    counts = {TIMES: len(timestamps)}
    if min(timestamps) < MILLIS_OF_1990:
        early = [time for time in timestamps if time < MILLIS_OF_1990]
        counts[BEFORE_1990] = len(early)
        counts[IN_SECONDS] = sum(_EARLIEST_SECONDS <= time < _LATEST_SECONDS for time in early)
    if clock is not None and max(timestamps) > clock + MILLIS_A_DAY:
        counts[AHEAD] = sum(time > clock + MILLIS_A_DAY for time in timestamps)
    return counts
