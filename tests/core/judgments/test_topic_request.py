"""The topic of a conversation before it is scored is the one that it is scored with (SPEC 6, 8)."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.judgments.judgment import LabelKeys, LabelRequest, label_request
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.topic_request import topic_request
from tests.reference import delivery
from tests.reference.judging import topic_of

KEYS = LabelKeys(topic_attribute="topic")
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
    return [label_request(one.conversation_id, [one], keys) for one in calls]


def in_two_places(given_records):
    """Whether deliveries with one record_id, time and attributes differ in their place."""
    parsed = [one for one in map(delivery.parsed_record, given_records) if one["record_id"]]
    deliveries = {(one["record_id"], one["timestamp"], str(sorted(one["attributes"].items())),
                   one["turn"], one["iteration"], one["call"] or 0) for one in parsed}  # fmt: skip
    return len({one[:3] for one in deliveries}) < len(deliveries)


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
    usable, _, _ = delivery.without_redeliveries(list(map(delivery.parsed_record, given_records)))
    topic = topic_of(delivery.in_order(usable), "topic")
    found = topic_request(requests(given_records)).topics
    if in_two_places(given_records):
        assert {topic} - {""} <= set(found) <= {"t", "u", "v", "w"}
    else:
        assert found == ([topic] if topic else [])


def test_many_topics_of_searches_that_share_a_place_ask_for_one():
    given_records = [
        {"conversation_id": "c", "iteration": 1, "attributes": {"topic": f"t{at:03}"}}
        for at in range(200)
    ]
    assert topic_request(requests(given_records)).topics == ["t199"]


def test_without_an_attribute_the_conversation_is_the_topic():
    both = [LabelRequest(" c ", ["b"], without_name=2), LabelRequest(" c ", ["a", "b"])]
    found = topic_request(both)
    assert (found.topics, found.documents, found.without_name) == (["c"], ["a", "b"], 2)


def test_results_without_a_name_count_in_conversations_with_a_topic():
    found = topic_request([LabelRequest("c", ["a"], "topic", [SearchCall("c", 1)], 2)])
    assert (found.topics, found.without_name) == ([], 0)
