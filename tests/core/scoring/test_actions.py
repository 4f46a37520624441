"""Records of documents that were opened or cited are neutral: they are no searches (SPEC 2)."""

import pytest

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.parsing import parse_mapping
from tests.core.direct import score_one

A, B, C = ({"url": f"https://ex.org/{name}", "gain": 3} for name in "abc")
SEARCHES = [
    {"iteration": 1, "call": 0, "results": [A, B]},
    {"iteration": 4, "call": 0, "results": [A, C], "costs": {"tokens": 7}},
]
USAGES = [
    {"iteration": 1, "call": 0, "action": "open", "results": [B]},
    {"iteration": 2, "call": 0, "action": "open", "results": [C], "costs": {"tokens": 99}},
    {"iteration": 4, "call": 0, "action": "cite", "results": [A, C]},
    {"iteration": 9, "action": "open", "error": "no network"},
]


def test_they_change_nothing_but_the_count_of_records():
    alone = score_one(SEARCHES, cost=("tokens",))
    together = score_one([*USAGES, *SEARCHES], cost=("tokens",))
    assert together.conversation == alone.conversation
    assert together.iterations == alone.iterations
    assert together.duplicates == alone.duplicates
    row = together.conversation
    assert (row.N, row.calls, row.R, row.UR, row.CG) == (2, 2, 4, 3, 9)
    differing = {
        name for name in together.counts if together.counts[name] != alone.counts.get(name)
    }
    assert differing == {"records.scored"}
    assert together.counts["records.scored"] == 6


def test_a_turn_that_only_opens_documents_has_no_search():
    found = score_one([*SEARCHES, {"turn": 2, "action": "open", "results": [A]}])
    assert (found.conversation.turn, found.conversation.N, found.conversation.calls) == (2, 0, 0)
    assert found.counts["records.scored"] == 1
    assert found.counts["records.earlier_turn"] == 2


def test_those_of_earlier_turns_are_counted_there():
    found = score_one([*USAGES, {"turn": 2, "results": [A]}])
    assert found.conversation.N == 1
    assert found.counts["records.scored"] == 1
    assert found.counts["records.earlier_turn"] == 4


def test_a_failed_search_was_invoked():
    found = score_one([{"iteration": 2, "error": "no network"}, *SEARCHES])
    assert (found.conversation.N, found.conversation.calls) == (3, 3)


def test_the_same_place_and_action_is_a_redelivery():
    found = score_one([*USAGES, *USAGES[:3], *SEARCHES])
    assert found.conversation.redelivered == 3
    assert found.counts["records.scored"] == 6


@pytest.mark.parametrize("action", ["close", "Search", "", 1])
def test_another_word_rejects_the_record(action):
    with pytest.raises(RecordError, match="action must be search, open or cite") as error:
        parse_mapping({"conversation_id": "c", "iteration": 1, "action": action})
    assert error.value.field == "action"
