"""The number of steps to score a result does not grow with its conversation.

Steps are counted, not timed: calls of Python functions, into generators and of built-in ones.
"""

import sys

from goodgain.transforms.core.scoring.score import score_conversation
from tests.core.direct import fingerprints, scoring

FEW, MANY = 150, 1_200  # calls with a result each


def steps(calls):
    """The number of steps to score a conversation with this number of calls."""
    records = [
        {
            "conversation_id": "c",
            "iteration": 1 + number,
            "results": [
                {
                    "entity_type": "File",
                    "ids": {"file_id": f"{number * 7 % calls}", "site_id": "s"},
                    "title": f"title {number % 5}",
                    "gain": number % 5,
                }
            ],
        }
        for number in range(calls)
    ]
    (found,) = fingerprints(records).values()
    settings = scoring(bounds=True, per_call=False, write_duplicates=True)
    counted = 0

    def count(frame, event, argument):
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        score_conversation("c", found, 0, settings)
    finally:
        sys.setprofile(None)
    return counted


def test_steps_grow_no_faster_than_results():
    steps(FEW)  # fills caches
    assert steps(MANY) / steps(FEW) < 1.15 * MANY / FEW
