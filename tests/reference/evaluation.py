"""Score JSON records: the rows of SPEC 6, conversation by conversation."""

from itertools import groupby

from tests.reference import delivery, metrics, passages, usage
from tests.reference.occurrences import Tallies, mark_duplicates, occurrences_of


def evaluate(
    records, *, good_gain_threshold=2, max_candidates=256, unit="document", document_label="first"
):
    """Score valid JSON trace records of any number of conversations, in any order.

    Returns "conversations" (id to row), "iterations" (rows by conversation_id and i),
    "duplicates" (one row each, in order) and "counts", with the column names of SPEC 6. A
    conversation's row also has "scored", "earlier_turn" and "conflicting_redeliveries".
    """
    by_conversation = {}
    for raw in records:
        by_conversation.setdefault(raw["conversation_id"], []).append(raw)
    tallies = Tallies()
    options = {"unit": unit, "document_label": document_label}
    conversations, iterations, duplicates = {}, [], []
    for conversation_id in sorted(by_conversation):
        row, iteration_rows, duplicate_rows = evaluate_conversation(
            by_conversation[conversation_id],
            good_gain_threshold,
            max_candidates,
            tallies,
            **options,
        )
        conversations[conversation_id] = row
        iterations += iteration_rows
        duplicates += duplicate_rows
    return {
        "conversations": conversations,
        "iterations": iterations,
        "duplicates": duplicates,
        "counts": counts_of(records, conversations, iterations, tallies),
    }


def evaluate_conversation(
    raw_records, threshold, max_candidates, tallies, unit="document", document_label="first"
):
    """The conversation row, the iteration rows and the duplicate rows of one conversation."""
    parsed = [delivery.parse_record(raw) for raw in raw_records]
    usable, redelivered, conflicting = delivery.drop_redeliveries(parsed)
    ordered = delivery.in_order(usable)
    last_turn = delivery.last_turn_of(ordered)
    scored = [record for record in ordered if record["turn"] == last_turn]
    searches = delivery.searches_of(ordered, last_turn)
    calls_by_iteration = [
        (iteration, list(calls))
        for iteration, calls in groupby(searches, key=lambda record: record["iteration"])
    ]
    occurrences = occurrences_of(calls_by_iteration)
    mark_duplicates(occurrences, max_candidates, tallies, unit)
    shared = {
        "conversation_id": ordered[0]["conversation_id"],
        "turn": last_turn,
        "attributes": delivery.attributes_of(ordered),
    }
    finds = passages.finds_of(occurrences, threshold, document_label)
    iterations = iteration_rows(shared, calls_by_iteration, occurrences, finds)
    timestamps = [record["timestamp"] for record in ordered if record["timestamp"] is not None]
    row = {
        **shared,
        "N": len(iterations),
        "calls": len(searches),
        **metrics.at_the_end(iterations),
        "unlabelled": sum(occurrence.gain is None for occurrence in occurrences),
        "label_conflicts": metrics.label_conflicts(occurrences),
        "rejected_records": 0,
        "redelivered": redelivered,
        **usage.call_counts(searches),
        "first_timestamp": min(timestamps, default=None),
        "last_timestamp": max(timestamps, default=None),
        "scored": len(scored),
        "earlier_turn": len(ordered) - len(scored),
        "conflicting_redeliveries": conflicting,
    }
    duplicates = [
        duplicate_row(shared["conversation_id"], occurrence)
        for occurrence in occurrences
        if not occurrence.is_first()
    ]
    return row, iterations, duplicates


def iteration_rows(shared, calls_by_iteration, occurrences, finds):
    rows = []
    for i, (iteration, calls) in enumerate(calls_by_iteration, start=1):
        own = [occurrence for occurrence in occurrences if occurrence.i == i]
        row = {**shared, "i": i, "iteration": iteration, "calls": len(calls)}
        row.update(metrics.sets_of_iteration(own, finds(i)))
        rows.append(row)
        row.update(metrics.cumulative(rows))
    return rows


def duplicate_row(conversation_id, occurrence):
    first = occurrence.first
    return {
        "conversation_id": conversation_id,
        "iteration": occurrence.iteration,
        "i": occurrence.i,
        "call_position": occurrence.call_position,
        "rank": occurrence.rank,
        "first_i": first.i,
        "first_iteration": first.iteration,
        "first_call_position": first.call_position,
        "first_rank": first.rank,
        "key": occurrence.key,
        "step": occurrence.verdict.step,
        "clause": occurrence.verdict.clause,
    }


def counts_of(records, conversations, iterations, tallies):
    rows = list(conversations.values())
    totals = {
        name: sum(row[name] for row in rows)
        for name in [
            "scored",
            "earlier_turn",
            "redelivered",
            "conflicting_redeliveries",
            "unlabelled",
            "label_conflicts",
        ]
    }
    return {
        "read": len(records),
        **totals,
        "conversations": len(rows),
        "iterations": len(iterations),
        "results": sum(row["R"] for row in rows),
        "duplicates": sum(row["DupR"] for row in rows),
        "candidates_cut": tallies.candidates_cut,
        "accepted": tallies.accepted,
        "near_misses": tallies.near_misses,
        "near_misses_by_rule": tallies.near_misses_by_rule,
    }
