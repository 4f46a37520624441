"""Small scores and live rows, as a stream emits them."""

import goodgain as gg
from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.streaming.live import LiveIteration
from tests.pipeline.runs import plain_scoring

MINUTE = 60_000
DAY = 86_400_000
NOON = 1_740_916_800_000  # 2025-03-02T12:00:00Z

_SCORING = plain_scoring()
_FINGERPRINTER = Fingerprinter(_SCORING.rules)


def score(conversation_id, *times, rejected=0, gain=3, action="search"):
    """A ConversationScore with one call at each time, in ms; each returns one new document."""
    calls = [
        SearchCall(
            conversation_id=conversation_id,
            iteration=number,
            timestamp=time,
            action=action,
            results=[Result(id=f"{conversation_id} {number}", gain=gain)],
        )
        for number, time in enumerate(times, start=1)
    ]
    fingerprints = [_FINGERPRINTER.call_fingerprint(call, True) for call in calls]
    return score_conversation(conversation_id, fingerprints, rejected, _SCORING)


def live(conversation_id, revision=1):
    (row,) = score(conversation_id, NOON).iterations
    return LiveIteration(revision, False, False, row)


def window_means():
    """Rows of means of one window: six conversations in three clusters."""
    calls = [
        {
            "conversation_id": f"c-{at}",
            "iteration": 1,
            "attributes": {"query_id": f"q{at // 2}"},
            "results": [{"id": "a", "gain": 2 + at % 3}],
        }
        for at in range(6)
    ]
    rows = gg.evaluate(calls, cluster="query_id").means.stored()
    window = {"window_start": 20 * DAY, "window_end": 21 * DAY, "is_last": True}
    return [row | window for row in rows]
