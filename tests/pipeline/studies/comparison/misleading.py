"""Three candidates that find no more than the base, although some of their means are higher."""

from tests.pipeline.studies.comparison.traces import conversation

PAIRS = 40
FOUND = 12  # conversations of the candidate with a good document, or with a search at all


def base():
    """Forty conversations that find good documents at every rank of two iterations."""
    return [conversation(f"c{at:02}", [[4, 2, 0, at % 5], [3, 2, 1]]) for at in range(PAIRS)]


def drop_labels(conversations):
    """The same traces without labels."""
    for records in conversations:
        for record in records:
            record["results"] = [{**result, "gain": None} for result in record["results"]]
    return conversations


def found_in_few():
    """Twelve conversations find one document, at rank 1; the others find nothing good."""
    return [conversation(f"c{at:02}", [[3 if at < FOUND else 0, 0, 0]]) for at in range(PAIRS)]


def search_in_few():
    """Twelve conversations of the base; the others do not search in their last turn."""
    return [
        records if at < FOUND else conversation(f"c{at:02}", [[0]], turn_count=2)
        for at, records in enumerate(base())
    ]


CASES = {
    "labels of the base removed": lambda: (drop_labels(base()), base()),
    "found in few": lambda: (base(), found_in_few()),
    "search in few": lambda: (base(), search_in_few()),
}
