"""The content of a sample: all kinds of records and results, in the requested shares."""

import json
import math
from collections import Counter
from itertools import groupby

import pytest

from goodgain.pipeline.sample.conversations import BAD_KINDS, sample_calls, sample_records
from goodgain.pipeline.sample.copies import COPIES
from goodgain.pipeline.sample.near_misses import NEAR_MISSES
from goodgain.pipeline.sample.writers import write_sample
from goodgain.pipeline.settings.sample_config import SampleConfig
from tests.pipeline.sample.reading import SMALL, comparable, results_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def calls():
    return list(sample_calls(SampleConfig(seed=1, conversations=400, bad_share=0.02)))


class TestDeterminism:
    @pytest.mark.parametrize("name", ["a.avro", "a.jsonl", "a.jsonl.gz", "a.parquet"])
    def test_files_are_equal_to_the_byte(self, tmp_path, name):
        write_sample(SMALL, str(tmp_path / f"first-{name}"))
        write_sample(SMALL, str(tmp_path / f"second-{name}"))
        first = (tmp_path / f"first-{name}").read_bytes()
        assert first == (tmp_path / f"second-{name}").read_bytes()

    def test_another_seed_gives_other_records(self):
        one = {
            record["conversation_id"]
            for record in sample_records(SampleConfig(seed=1, conversations=20))
        }
        two = {
            record["conversation_id"]
            for record in sample_records(SampleConfig(seed=2, conversations=20))
        }
        assert not one & two

    def test_a_smaller_sample_is_the_start_of_a_larger_one(self):
        smaller = [comparable(one) for one in sample_records(SampleConfig(seed=5, conversations=6))]
        larger = [comparable(one) for one in sample_records(SampleConfig(seed=5, conversations=15))]
        assert len(smaller) < len(larger)
        assert larger[: len(smaller)] == smaller

    def test_values_of_a_seed_are_known(self):
        """They are the same on every machine."""
        first = next(sample_records(SampleConfig(seed=1)))
        assert first["conversation_id"] == "c7d95379-6c92-989f-2d76-21f6361e3d5f"
        assert first["timestamp"] == 1740981663858


class TestContent:
    def test_every_entity_type_occurs(self, calls):
        kinds = {result.get("entity_type") for result in results_of(calls)}
        assert kinds >= {
            *("File", "Event", "EmailMessage", "TeamsMessage", "People", "External"),
            *("MeetingTranscript", "Whiteboard", None),
            *("Email", "Person", "PeopleInferenceAnswer", "CalendarEvent", "GraphConnector"),
        }

    def test_every_kind_of_copy_and_near_miss_occurs(self, calls):
        origins = {origin for call in calls for origin in call.origins}
        assert origins == {
            "new",
            *(f"copy:{way}" for way in COPIES),
            *(f"near:{way}" for way in NEAR_MISSES),
        }

    def test_every_kind_of_record_occurs(self, calls):
        kinds = {call.kind for call in calls}
        assert kinds == {
            *("regular", "redelivered", "conflicting"),
            *(f"bad:{kind}" for kind in BAD_KINDS),
        }

    def test_each_bad_record_has_only_its_named_fault(self, calls):
        for call in calls:
            record = call.record
            faults = {
                "bad:conversation_id": record["conversation_id"] == "",
                "bad:iteration": record["iteration"] < 1,
                "bad:turn": record["turn"] < 1,
                "bad:gain": any(r.get("gain", 0) not in range(5) for r in record["results"]),
                "bad:score": any(not math.isfinite(r.get("score", 0)) for r in record["results"]),
            }
            wanted = {call.kind} if call.kind.startswith("bad:") else set()
            assert {name for name, fault in faults.items() if fault} == wanted

    def test_optional_fields_and_empty_calls_occur(self, calls):
        records = [call.record for call in calls if call.kind == "regular"]
        assert any(not record["results"] for record in records)
        assert any("call" not in record for record in records)
        assert any(record.get("call") == 1 for record in records)
        assert any("record_id" not in record for record in records)
        assert any(record.get("turn_count", 0) > record["turn"] for record in records)
        assert any("model" not in record["attributes"] for record in records)
        raw = [
            sorted({record["iteration"] for record in turn})
            for _, turn in groupby(records, lambda r: (r["conversation_id"], r["turn"]))
        ]
        assert any(iterations[-1] > len(iterations) for iterations in raw)

    def test_two_calls_of_an_iteration_without_call_numbers_occur(self, calls):
        places = Counter(
            (call.record["conversation_id"], call.record["turn"], call.record["iteration"])
            for call in calls
            if call.kind == "regular" and "call" not in call.record
        )
        assert 2 in places.values()

    def test_is_final_marks_only_the_last_record(self, calls):
        regular = [call.record for call in calls if call.kind == "regular"]
        for _, conversation in groupby(regular, lambda record: record["conversation_id"]):
            *earlier, _ = conversation
            assert not any(record.get("is_final") for record in earlier)
        assert any(record.get("is_final") for record in regular)

    def test_redeliveries_repeat_a_record_and_conflicts_change_it(self, calls):
        regular = {comparable(call.record) for call in calls if call.kind == "regular"}
        for call in calls:
            if call.kind == "redelivered":
                assert comparable(call.record) in regular
            if call.kind == "conflicting":
                assert comparable(call.record) not in regular

    def test_texts_have_realistic_lengths(self, calls):
        results = results_of(calls)
        titles = [len(result["title"]) for result in results if "title" in result]
        snippets = [len(result["snippet"]) for result in results if "snippet" in result]
        contents = [len(result["content"]) for result in results if "content" in result]
        assert 30 <= sum(titles) / len(titles) <= 80
        assert max(titles) <= 90
        assert min(snippets) >= 140
        assert max(snippets) <= 300
        assert min(contents) >= 590
        assert max(contents) <= 1500

    def test_texts_mix_languages_but_are_mostly_ascii(self, calls):
        text = "".join(result.get("snippet", "") for result in results_of(calls))
        assert "ß" in text
        assert "é" in text
        assert "見" in text
        assert sum(letter.isascii() for letter in text) > 0.9 * len(text)


class TestShares:
    @pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
    def test_share_of_duplicates_is_as_requested(self, share):
        options = SampleConfig(conversations=250, duplicate_share=share)
        origins = [origin for call in sample_calls(options) for origin in call.origins]
        copies = sum(origin.startswith("copy:") for origin in origins)
        assert copies / len(origins) == pytest.approx(share, rel=0.12)

    def test_low_labels_are_more_frequent(self, calls):
        counts = Counter(r.get("gain") for r in results_of(calls) if r.get("gain", 0) in range(5))
        assert counts[0] > counts[1] > counts[2] > counts[3] > counts[4] > 0

    def test_shares_of_unlabelled_results_bad_records_and_several_turns(self, calls):
        results = results_of(calls)
        unlabelled = sum("gain" not in result for result in results) / len(results)
        bad = sum(call.kind.startswith("bad:") for call in calls) / len(calls)
        turns = {}
        for call in calls:
            turns.setdefault(call.record["conversation_id"], set()).add(call.record["turn"])
        several = sum(len(found) > 1 for found in turns.values()) / len(turns)
        assert unlabelled == pytest.approx(0.04, abs=0.01)
        assert bad == pytest.approx(0.02, abs=0.01)
        assert several == pytest.approx(0.2, abs=0.07)

    def test_number_of_results_is_the_product_of_the_three_sizes(self):
        options = SampleConfig(conversations=400)
        results = sum(len(record["results"]) for record in sample_records(options))
        assert results == pytest.approx(400 * 4 * 20, rel=0.06)

    def test_fixed_iterations_give_every_conversation_the_same_number(self):
        options = SampleConfig(conversations=40, iterations=3, fixed_iterations=True)
        places = {
            (call.record["conversation_id"], call.record["turn"], call.record["iteration"])
            for call in sample_calls(options)
            if not call.kind.startswith("bad:")
        }
        iterations = Counter(conversation_id for conversation_id, _, _ in places)
        assert set(iterations.values()) == {3}

    def test_some_copies_have_another_label(self, calls):
        labels = {}
        for result in results_of(calls):
            key = (result.get("url"), json.dumps(result.get("ids")), result.get("id"))
            labels.setdefault(key, set()).add(result.get("gain"))
        assert any(len(found) > 1 for found in labels.values())

    def test_scores_decrease_with_rank(self, calls):
        for call in calls:
            scores = [result["score"] for result in call.record["results"] if "score" in result]
            if call.kind != "bad:score":
                assert scores == sorted(scores, reverse=True)
