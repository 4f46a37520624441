"""Aspects of the last turn of one conversation, straight from SPEC 13.

Where the SPEC is silent: of equally good documents the ideal ranking takes, with judgments from
outside, the one with the greater name, as ndeval does, else the one found first.
"""

from itertools import groupby
from math import log2

from tests.reference import delivery
from tests.reference.occurrences import Tallies, mark_duplicates, occurrences_of


def evaluate_aspects(records, *, k=None, unit="document", document_label="first", judged=None):
    """The columns of conversations and iterations, and strec@k and alpha_ndcg@k.

    Args:
      judged: by document name (the id doc_id), the aspects that it covers by judgments from
        outside.
    """
    usable, *_ = delivery.drop_redeliveries([delivery.parse_record(record) for record in records])
    ordered = delivery.in_order(usable)
    calls = delivery.searches_of(ordered, delivery.last_turn_of(ordered))
    by_iteration = [
        (iteration, list(of_iteration))
        for iteration, of_iteration in groupby(calls, key=lambda call: call["iteration"])
    ]
    occurrences = occurrences_of(by_iteration)
    mark_duplicates(occurrences, 256, Tallies(), unit)
    results = [result for _, calls in by_iteration for call in calls for result in call["results"]]
    pairs = list(zip(occurrences, results, strict=True))
    firsts = [occurrence for occurrence in occurrences if occurrence.is_first()]
    n = len(by_iteration)
    if judged is None:
        of_document = {
            id(document): own_aspects(pairs, document, document_label) for document in firsts
        }
        ideal_order = [
            covered_aspects
            for covered_aspects in map(of_document.get, map(id, firsts))
            if covered_aspects is not None
        ]
        ideal_order = [{aspect for aspect, _ in covers} for covers in ideal_order]
    else:
        of_document = judged_aspects(pairs, firsts, judged)
        ideal_order = [judged[name] for name in sorted(judged, reverse=True)]
    number = len(set().union(*ideal_order))
    covered = [
        {aspect for covers in of_document.values() for aspect, since in covers or () if since <= i}
        for i in range(n + 1)
    ]
    ranked = [{aspect for aspect, _ in of_document[id(first)] or ()} for first in firsts]
    all_at = [i for i in range(1, n + 1) if len(covered[i]) == number]
    return {
        "topic_aspects": number,
        "new": [len(covered[i]) - len(covered[i - 1]) for i in range(1, n + 1)],
        "at_i": [len(aspects) for aspects in covered[1:]],
        "recall_at_i": [len(aspects) / number if number else None for aspects in covered[1:]],
        "iterations_for_all_aspects": all_at[0] if all_at and number else None,
        "strec": len(set().union(*ranked[:k])) / number if number else None,
        "alpha_ndcg": gain(ranked[:k]) / gain(greedy(ideal_order)[:k]) if number else None,
    }


def own_aspects(pairs, document, document_label):
    """(aspect, iteration) of what a document covers by its results; None = not judged."""
    mine = [
        (pair, result["aspects"])
        for pair, result in pairs
        if pair.first is document and (pair is document or document_label == "best")
    ]
    known = [(document, aspects) for document, aspects in mine if aspects is not None]
    return (
        {(aspect, document.i) for document, aspects in known for aspect in aspects}
        if known
        else None
    )


def judged_aspects(pairs, firsts, judged):
    """The same by judgments from outside, each of which counts once (SPEC 8)."""
    taken, found = set(), {}
    for document in firsts:
        names = [
            name
            for pair, result in pairs
            if pair.first is document
            for name in names_of(result)
            if name in judged and name not in taken
        ]
        taken.update(names[:1])
        found[id(document)] = {
            (aspect, document.i) for name in names[:1] for aspect in judged[name]
        }
    return found


def names_of(result):
    named = result["ids"].get("doc_id", [])
    named = [named] if isinstance(named, str) else named
    names = [name.strip() for name in named if name and name.strip()]
    return names or [name for name in [(result["id"] or "").strip()] if name]


def gain(ranked):
    total, seen = 0.0, []
    for rank, aspects in enumerate(ranked, start=1):
        total += sum(0.5 ** seen.count(aspect) for aspect in aspects) / log2(rank + 1)
        seen += aspects
    return total


def greedy(documents):
    left, seen, ordered = list(documents), [], []
    while left:
        gains = [sum(0.5 ** seen.count(aspect) for aspect in aspects) for aspects in left]
        best = left.pop(gains.index(max(gains)))
        ordered.append(best)
        seen += best
    return ordered
