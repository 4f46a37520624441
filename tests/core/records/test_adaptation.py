"""Records of other producers: renamed fields, iterations from 0, values of other types."""

import io
import json
import pickle

import pyarrow as pa
import pytest

from goodgain.transforms.core.errors import RecordError, UsageError
from goodgain.transforms.core.files.message import Message, parse_message
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.files.shard_reader import read_shard
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.parsing import parse_json, parse_mapping
from tests.core.files import samples

FOREIGN = {
    "session": "c",
    "step": 3,
    "hits": [{"document_id": "d", "relevance": 4, "doc": {"text": "t"}, "ids": {"x": "1"}}],
    "meta": {"market": "de"},
}
RENAMES = (
    "conversation_id=session",
    "iteration=step",
    "results=hits",
    "attributes.market=meta.market",
    "gain=relevance",
    "ids.doc_id=document_id",
    "content=doc.text",
)


def read(content, name, renames=RENAMES, iteration_base=1):
    adaptation = Adaptation(renames, iteration_base=iteration_base)
    shards = plan_shards(io.BytesIO(content), name, len(content), adaptation=adaptation)
    return [call for shard in shards for call in read_shard(shard, lambda _: io.BytesIO(content))]


def as_avro(records):
    texts = {"type": "map", "values": "string"}
    document = samples.avro_record("Doc", text="string")
    hit = samples.avro_record("Hit", document_id="string", relevance="int", doc=document, ids=texts)
    hits = {"type": "array", "items": hit}
    schema = samples.avro_record("Call", session="string", step="int", hits=hits, meta=texts)
    return samples.avro_bytes(records, "null", schema)


def as_parquet(records):
    return samples.table_bytes(pa.Table.from_pylist(records))


@pytest.mark.parametrize(
    ("name", "written"),
    [("a.jsonl", samples.jsonl_bytes), ("a.avro", as_avro), ("a.parquet", as_parquet)],
)
def test_renames_fields_in_every_format(name, written):
    (call,) = read(written([FOREIGN]), name)
    (result,) = call.results
    assert (call.conversation_id, call.iteration, call.attributes) == ("c", 3, {"market": "de"})
    assert (result.gain, result.content, result.ids) == (4, "t", {"x": "1", "doc_id": "d"})


def test_renames_fields_in_messages():
    message = Message("t", "1", json.dumps({**FOREIGN, "timestamp": 1}).encode())
    assert parse_message(message, Adaptation(RENAMES)).conversation_id == "c"


def test_a_renamed_field_replaces_an_existing_one_if_it_has_a_value():
    adaptation = Adaptation(["query=question"])
    assert adaptation.apply({"query": "a", "question": "b"}) == {"query": "b"}
    assert adaptation.apply({"query": "a"}) == {"query": "a"}
    assert adaptation.apply({"query": "a", "question": None}) == {"query": "a"}


def test_two_fields_can_swap_their_names():
    adaptation = Adaptation(["title=snippet", "snippet=title"])
    swapped = adaptation.apply({"results": [{"title": "t", "snippet": "s"}]})
    assert swapped == {"results": [{"title": "s", "snippet": "t"}]}


@pytest.mark.parametrize("record", [None, [], "text", {"results": None}, {"results": [None, 3]}])
def test_leaves_what_is_not_a_record_unchanged(record):
    assert Adaptation(["gain=relevance"]).apply(record) == record


def test_iterations_counted_from_0():
    records = [{"conversation_id": "c", "iteration": iteration} for iteration in (0, "1", 2.0)]
    found = read(samples.jsonl_bytes(records), "a.jsonl", (), 0)
    assert [call.iteration for call in found] == [1, 2, 3]
    with pytest.raises(RecordError, match="--iteration-base 0"):
        parse_mapping(records[0])


def test_leaves_a_field_out():
    adaptation = Adaptation(["ids.doc_id=", "title=name", "query="])
    results = [{"ids": {"doc_id": 1, "file_id": "f"}, "name": "n"}, {"ids": None}, {}]
    assert adaptation.apply({"query": "q", "tool": "t", "results": results}) == {
        "tool": "t",
        "results": [{"ids": {"file_id": "f"}, "title": "n"}, {"ids": None}, {}],
    }
    assert adaptation.missing_sources([{"results": results}]) == []
    assert Adaptation(["timestamp="]).timestamp is None


def test_without_options_nothing_changes():
    assert Adaptation().changes_nothing
    for options in ({"mapping": ["gain=a"]}, {"label_map": ["2=1"]}, {"iteration_base": 0}):
        assert not Adaptation(**options).changes_nothing


def test_it_is_the_same_after_it_has_travelled():
    adaptation = Adaptation(("gain=relevance",), ("5=4",), 0)
    again = pickle.loads(pickle.dumps(adaptation))
    assert again == adaptation
    assert again.apply({"results": [{"relevance": 5}]}) == {"results": [{"gain": 4}]}


def test_labels_on_another_scale_are_refused_before_anything_is_read():
    with pytest.raises(UsageError, match="'2' is not LABEL=GAIN"):
        Adaptation(label_map=["2"])


@pytest.mark.parametrize(
    ("rename", "hint"),
    [
        ("gian=relevance", "is not a field; did you mean gain?"),
        ("relevance=gain", "did you mean gain=relevance?"),
        ("gain", "is not FIELD=NAME"),
        ("=gain", "is not FIELD=NAME"),
        ("colour=c", "attributes.NAME"),
        ("ids.=c", "not a field"),
        ("query.text=c", "not a field"),
    ],
)
def test_rejects_a_wrong_rename_with_a_hint(rename, hint):
    with pytest.raises(UsageError) as error:
        Adaptation([rename])
    assert hint in str(error.value)
    assert "?." not in str(error.value)


def test_reports_all_mistakes_at_once():
    with pytest.raises(UsageError, match=r"gain is given twice.*ittle"):
        Adaptation(["gain=a", "gain=b", "ittle=c"])


def test_names_sources_that_no_record_has():
    adaptation = Adaptation(["conversation_id=session", "gain=relevanse", "title=doc.text"])
    assert adaptation.missing_sources([{**FOREIGN, "results": FOREIGN["hits"]}]) == ["relevanse"]


BASE = {"conversation_id": "c", "iteration": 1}


@pytest.mark.parametrize(
    ("record", "equivalent"),
    [
        ({**BASE, "iteration": "2", "turn": " 3 "}, {**BASE, "iteration": 2, "turn": 3}),
        (
            {**BASE, "conversation_id": 7, "record_id": 8},
            {**BASE, "conversation_id": "7", "record_id": "8"},
        ),
        ({**BASE, "is_final": "true"}, {**BASE, "is_final": True}),
        ({**BASE, "timestamp": "1700000000000"}, {**BASE, "timestamp": 1_700_000_000_000}),
        (
            {**BASE, "attributes": {"arm": 3, "new": True, "share": 0.5, "none": float("nan")}},
            {**BASE, "attributes": {"arm": "3", "new": "true", "share": "0.5"}},
        ),
        (
            {**BASE, "attributes": {"a": 12.0, "b": -0.0, "c": -(2.0**53), "d": 1e16, "e": 2e300}},
            {
                **BASE,
                "attributes": {
                    "a": "12",
                    "b": "0",
                    "c": "-9007199254740992",
                    "d": "1e+16",
                    "e": "2e+300",
                },
            },
        ),
        (
            {
                **BASE,
                "results": [{"gain": "3", "id": 7, "ids": {"a": 1, "b": [2, "3"]}, "score": "0.5"}],
            },
            {
                **BASE,
                "results": [
                    {"gain": 3, "id": "7", "ids": {"a": "1", "b": ["2", "3"]}, "score": 0.5}
                ],
            },
        ),
        (
            {**BASE, "results": [{"gain": float("nan"), "title": float("nan"), "url": "u"}]},
            {**BASE, "results": [{"url": "u"}]},
        ),
    ],
)
def test_converts_values_if_nothing_is_lost(record, equivalent):
    assert parse_mapping(record) == parse_mapping(equivalent)
    assert parse_json(json.dumps(record).encode()) == parse_mapping(equivalent)


@pytest.mark.parametrize("gain", ["2.5", "good", "", "5", True, "1e0"])
def test_rejects_gains_that_are_not_whole_numbers_of_the_scale(gain):
    with pytest.raises(RecordError) as error:
        parse_mapping({**BASE, "results": [{"gain": gain}]})
    assert error.value.field == "results[0].gain"


def test_nan_beside_invalid_text():
    line = b'{"conversation_id": "c\\ud800", "iteration": 1, "results": [{"gain": NaN}]}'
    with pytest.raises(RecordError, match="conversation_id has half of a surrogate pair"):
        parse_json(line)


def test_the_error_of_a_missing_field_names_a_similar_one():
    with pytest.raises(RecordError) as error:
        parse_json(b'{"conversationId": "c", "iteration": 1}')
    assert error.value.reason == (
        "conversation_id is missing; conversationId looks like it: add "
        "--map conversation_id=conversationId."
    )


@pytest.mark.parametrize("name", ["mapping", "label_map"])
def test_rejects_a_text_in_place_of_entries(name):
    with pytest.raises(UsageError, match=f"{name} cannot be 'gain=1': give a list of entries"):
        Adaptation(**{name: "gain=1"})
