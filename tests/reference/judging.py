"""External labels, straight from SPEC 8: which judgment labels which document.

Where the SPEC is silent: a blank topic is absent; a conversation without topic has no judgments.
"""

from itertools import groupby

from tests.reference import delivery
from tests.reference.normalisation import as_list
from tests.reference.occurrences import Tallies, mark_duplicates, occurrences_of

GRADES = range(5)


def judge(records, qrels, *, id_name, topic_attribute=None, threshold=2):
    """Judge the last turn of one conversation.

    Args:
      records: JSON trace records of one conversation.
      qrels: label by (topic, document name).

    Returns:
      A dict: "labels" (by rank of the list of first occurrences, a gain or None), "pool" (gains of
      the judged documents of the topic), "judgments_met_again", "unlabelled", "CG", "GR".
    """
    usable, scored, occurrences = last_turn(records)
    topic = topic_of(usable, topic_attribute)
    names = [names_of(result, id_name) for record in scored for result in record["results"]]
    firsts = [occurrence for occurrence in occurrences if occurrence.is_first()]
    taken, labels, met_again = set(), {}, 0
    for document in firsts:
        judged = [
            (topic, name)
            for occurrence, some in zip(occurrences, names, strict=True)
            if occurrence.first is document and topic
            for name in some
            if qrels.get((topic, name), -1) in GRADES
        ]
        free = [name for name in judged if name not in taken]
        if free:
            taken.add(free[0])
            labels[id(document)] = qrels[free[0]]
        elif judged:
            met_again += 1
    by_rank = [labels.get(id(document)) for document in firsts]
    good = [label for label in by_rank if label is not None and label >= threshold]
    return {
        "labels": by_rank,
        "pool": [gain for (of, _), gain in qrels.items() if of == topic and gain in GRADES],
        "judgments_met_again": met_again,
        "unlabelled": sum(id(occurrence.first) not in labels for occurrence in occurrences),
        "CG": sum(good),
        "GR": len(good),
    }


def last_turn(records):
    """The usable records, those of the last turn, both in order, and their occurrences."""
    usable, _, _ = delivery.drop_redeliveries(list(map(delivery.parse_record, records)))
    last = delivery.last_turn_of(usable)
    ordered = delivery.in_order(usable)
    scored = delivery.searches_of(ordered, last)
    by_iteration = groupby(scored, key=lambda record: record["iteration"])
    occurrences = occurrences_of([(iteration, list(calls)) for iteration, calls in by_iteration])
    mark_duplicates(occurrences, 256, Tallies())
    return ordered, scored, occurrences


def topic_of(ordered, attribute):
    """The conversation_id, or the last nonblank value of an attribute (SPEC 6)."""
    if attribute is None:
        return ordered[0]["conversation_id"].strip()
    return (delivery.attributes_of(ordered).get(attribute) or "").strip()


def names_of(result, id_name):
    """Trimmed values of the named id or, if there are none, of the generic id."""
    named = [value.strip() for value in as_list(result["ids"].get(id_name))]
    generic = [(result["id"] or "").strip()]
    return [name for name in named if name] or [name for name in generic if name]
