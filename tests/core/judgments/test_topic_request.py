"""The topic of a conversation before it is scored is the one that it is scored with (SPEC 6, 8)."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.judgments.judgment import LabelKeys, LabelRequest, label_request
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.record_encoding import record_digest, record_encoding
from goodgain.transforms.core.scoring.topic_request import topic_request
from tests.reference import delivery
from tests.reference.judging import topic_of

KEYS = LabelKeys(qrels_topic="topic")
TOPICS = ("t", "u", "v", "w", " t ", " ", "")

# Few values, so that records share identities, places and times.
records = st.lists(
    st.fixed_dictionaries(
        {"conversation_id": st.just("c"), "iteration": st.integers(1, 2)},
        optional={
            "turn": st.integers(1, 2),
            "call": st.sampled_from([None, 0, 1]),
            "record_id": st.sampled_from([None, "r", "s"]),
            "timestamp": st.sampled_from([None, 5, 6]),
            "query": st.sampled_from("ab"),
            "attributes": st.fixed_dictionaries(
                {}, optional={"topic": st.sampled_from(TOPICS), 'é"': st.sampled_from("xy")}
            ),
        },
    ),
    min_size=1,
    max_size=6,
)


def requests(given_records, keys=KEYS):
    """A request for each record, the last one first."""
    calls = map(parse_mapping, reversed(given_records))
    return [
        label_request("c", [call], [record_digest(record_encoding(call))], keys) for call in calls
    ]


@pytest.mark.slow
@given(records)
@settings(max_examples=400)
@example(
    [
        {"conversation_id": "c", "iteration": 1, "record_id": "r", "attributes": {"topic": "t"}},
        {"conversation_id": "c", "iteration": 2, "record_id": "s", "attributes": {"topic": "u"}},
        {"conversation_id": "c", "iteration": 3, "record_id": "r", "attributes": {"topic": "t"}},
    ]
)
def test_the_topic_is_that_of_the_reference(given_records):
    usable, _, _ = delivery.drop_redeliveries(list(map(delivery.parse_record, given_records)))
    topic = topic_of(delivery.in_order(usable), "topic")
    assert topic_request(requests(given_records)).topic == topic


def test_without_an_attribute_the_conversation_is_the_topic():
    both = [LabelRequest(" c ", ["b"], without_name=2), LabelRequest(" c ", ["a", "b"])]
    found = topic_request(both)
    assert (found.topic, found.documents, found.without_name) == ("c", ["a", "b"], 2)


def test_results_without_a_name_count_in_conversations_with_a_topic():
    (request,) = requests([{"conversation_id": "c", "iteration": 1, "results": [{}, {}]}])
    found = topic_request([request])
    assert (request.without_name, found.topic, found.without_name) == (2, "", 0)
