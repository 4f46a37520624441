"""What was opened and cited, and calls that brought nothing, straight from SPEC 11."""

import unicodedata
from types import SimpleNamespace

from tests.reference import delivery, judging, normalisation
from tests.reference.evidence import evidence_of, keys_of
from tests.reference.occurrences import Occurrence, Tallies, mark_duplicates
from tests.reference.verification import verify


def use(records, threshold=2):
    """The columns of SPEC 11 of one conversation, from its JSON trace records."""
    ordered, searches, occurrences = judging.last_turn(records)
    last = delivery.last_turn_of(ordered)
    found = documents_of(occurrences)
    for document in found:
        document.label = document.occurrences[0].gain
        document.found = True
    good = [
        document for document in found if document.label is not None and document.label >= threshold
    ]

    records_of = {
        action: [
            record for record in ordered if record["turn"] == last and record["action"] == action
        ]
        for action in ("open", "cite")
    }
    unsurfaced, cited_alone = [], []
    opened = used_documents(results_of(records_of["open"]), [found], unsurfaced)
    cited = used_documents(results_of(records_of["cite"]), [found, unsurfaced], cited_alone)
    for document in unsurfaced + cited_alone:
        everywhere = document.occurrences + document.matched
        labels = [document.gain for document in everywhere if document.gain is not None]
        document.label = labels[0] if labels else None
        document.found = False

    unopened = sum(not is_in(document, opened) for document in cited)
    return {
        "opens": len(records_of["open"]),
        **columns("opened", "open", opened, good, threshold),
        "cites": len(records_of["cite"]),
        **columns("cited", "cite", cited, good, threshold),
        "cited_unopened": unopened if records_of["open"] else None,
        **call_counts(searches),
    }


def call_counts(searches):
    """The counts of search calls that brought nothing; `searches` are parsed records, in order."""
    return {
        "calls_empty": sum(not call["results"] for call in searches),
        "calls_failed": sum(bool((call["error"] or "").strip()) for call in searches),
        "queries_repeated": count_repeated([normal_query(call["query"]) for call in searches]),
    }


def documents_of(occurrences):
    firsts = [occurrence for occurrence in occurrences if occurrence.is_first()]
    return [
        SimpleNamespace(
            occurrences=[occurrence for occurrence in occurrences if occurrence.first is first],
            matched=[],
        )
        for first in firsts
    ]


def results_of(records):
    return [
        Occurrence(0, 0, 0, 0, result["gain"], evidence_of(result))
        for record in records
        for result in record["results"]
    ]


def used_documents(results, lists, own):
    """The distinct documents of some results; those in none of the lists are folded into `own`."""
    belongs = [
        next((match for documents in lists if (match := matching(result, documents))), None)
        for result in results
    ]
    alone = [result for result, document in zip(results, belongs, strict=True) if document is None]
    mark_duplicates(alone, 256, Tallies())
    own += documents_of(alone)
    distinct = []
    for result, document in zip(results, belongs, strict=True):
        if document is None:
            document = next(each for each in own if is_in(result, each.occurrences))
        else:
            document.matched.append(result)
        if not is_in(document, distinct):
            distinct.append(document)
    return distinct


def matching(result, documents):
    keys = keys_of(result.evidence)
    for document in documents:
        for occurrence in document.occurrences:
            proposed = any(key in keys for key in keys_of(occurrence.evidence))
            if proposed and verify(occurrence.evidence, result.evidence).duplicate:
                return document
    return None


def is_in(one, several):
    return any(one is each for each in several)


def columns(did, verb, documents, good, threshold):
    labelled = [
        document
        for document in documents
        if document.label is not None and document.label >= threshold
    ]
    of_found = [document for document in good if is_in(document, documents)]
    return {
        did: len(documents),
        f"{did}_good": len(labelled),
        f"{did}_unsurfaced": sum(not document.found for document in documents),
        f"{verb}_precision": len(labelled) / len(documents) if documents else None,
        f"{verb}_recall": len(of_found) / len(good) if good else None,
        f"CG_{did}": sum(document.label for document in of_found),
    }


def normal_query(query):
    kept = (
        character
        for character in query or ""
        if not unicodedata.category(character).startswith("P")
    )
    return normalisation.text("".join(kept))


def count_repeated(queries):
    return sum(query != "" and query in queries[:at] for at, query in enumerate(queries))
