"""The content of a sample: all kinds of records and results, in the requested shares."""

import json
import math
from collections import Counter
from itertools import groupby

import pytest

import goodgain as gg
from goodgain.pipeline.sample.conversations import sample_records
from goodgain.pipeline.sample.writers import write_sample
from goodgain.pipeline.settings.sample_config import SampleConfig
from tests.pipeline.sample.reading import SMALL, comparable, results_of

pytestmark = pytest.mark.slow


BAD = {
    "conversation_id": lambda record: record["conversation_id"] == "",
    "iteration": lambda record: record["iteration"] < 1,
    "turn": lambda record: record["turn"] < 1,
    "gain": lambda record: any(r.get("gain", 0) not in range(5) for r in record["results"]),
    "score": lambda record: any(not math.isfinite(r.get("score", 0)) for r in record["results"]),
}


def faults_of(record):
    return [field for field, is_bad in BAD.items() if is_bad(record)]


@pytest.fixture(scope="module")
def records():
    return list(sample_records(SampleConfig(seed=1, conversations=400, bad_share=0.02)))


@pytest.fixture(scope="module")
def usable(records):
    return [record for record in records if not faults_of(record)]


@pytest.fixture(scope="module")
def counts(usable):
    """Counts of the results of a run over the usable records."""
    return gg.evaluate(usable).manifest.results


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
        smaller = [
            comparable(record) for record in sample_records(SampleConfig(seed=5, conversations=6))
        ]
        larger = [
            comparable(record) for record in sample_records(SampleConfig(seed=5, conversations=15))
        ]
        assert len(smaller) < len(larger)
        assert larger[: len(smaller)] == smaller

    def test_values_of_a_seed_are_known(self):
        """They are the same on every machine."""
        first = next(sample_records(SampleConfig(seed=1)))
        assert first["conversation_id"] == "c7d95379-6c92-989f-2d76-21f6361e3d5f"
        assert first["timestamp"] == 1740981663858


class TestContent:
    def test_every_entity_type_occurs(self, records):
        kinds = {result.get("entity_type") for result in results_of(records)}
        assert kinds >= {
            *("File", "Event", "EmailMessage", "TeamsMessage", "People", "External"),
            *("MeetingTranscript", "Whiteboard", None),
            *("Email", "Person", "PeopleInferenceAnswer", "CalendarEvent", "GraphConnector"),
        }

    def test_every_step_finds_copies_and_rejects_near_misses(self, counts):
        assert set(counts.duplicates_by_step) == {
            "ids", "url", "url_text", "fields", "generic_id", "identical",
        }  # fmt: skip
        assert set(counts.near_misses_by_step) == {
            "type", "ids", "url", "url_identity", "url_text", "fields", "inconclusive",
        }  # fmt: skip

    def test_each_bad_record_has_one_fault_and_every_fault_occurs(self, records):
        faults = [found for record in records if (found := faults_of(record))]
        assert {len(found) for found in faults} == {1}
        assert {field for (field,) in faults} == set(BAD)

    def test_optional_fields_and_empty_calls_occur(self, usable):
        assert any(not record["results"] for record in usable)
        assert any("call" not in record for record in usable)
        assert any(record.get("call") == 1 for record in usable)
        assert any("record_id" not in record for record in usable)
        assert any(record.get("turn_count", 0) > record["turn"] for record in usable)
        assert any("model" not in record["attributes"] for record in usable)
        raw = [
            sorted({record["iteration"] for record in turn})
            for _, turn in groupby(usable, lambda r: (r["conversation_id"], r["turn"]))
        ]
        assert any(iterations[-1] > len(iterations) for iterations in raw)

    def test_two_calls_of_an_iteration_without_call_numbers_occur(self, usable):
        places = {}
        for record in usable:
            if "call" not in record:
                place = record["conversation_id"], record["turn"], record["iteration"]
                places.setdefault(place, set()).add(comparable(record))
        assert 2 in map(len, places.values())

    def test_is_final_marks_only_the_last_record(self, usable):
        def place(record):
            return record["turn"], record["iteration"], record.get("call", 0)

        for _, conversation in groupby(usable, lambda record: record["conversation_id"]):
            delivered = list(conversation)
            final = [record for record in delivered if record.get("is_final")]
            assert all(place(record) == max(map(place, delivered)) for record in final)
        assert any(record.get("is_final") for record in usable)

    def test_some_records_are_delivered_again_and_some_of_these_are_changed(self, usable):
        counted = gg.evaluate(usable).manifest.records
        unchanged = len(usable) - len({comparable(record) for record in usable})
        assert counted.redelivered - counted.conflicting_redeliveries == unchanged > 0
        assert counted.conflicting_redeliveries > 0

    def test_texts_have_realistic_lengths(self, records):
        results = results_of(records)
        titles = [len(result["title"]) for result in results if "title" in result]
        snippets = [len(result["snippet"]) for result in results if "snippet" in result]
        contents = [len(result["content"]) for result in results if "content" in result]
        assert 30 <= sum(titles) / len(titles) <= 80
        assert max(titles) <= 90
        assert min(snippets) >= 140
        assert max(snippets) <= 300
        assert min(contents) >= 590
        assert max(contents) <= 1500

    def test_texts_mix_languages_but_are_mostly_ascii(self, records):
        text = "".join(result.get("snippet", "") for result in results_of(records))
        assert "ß" in text
        assert "é" in text
        assert "見" in text
        assert sum(letter.isascii() for letter in text) > 0.9 * len(text)


class TestShares:
    def test_three_in_ten_results_are_duplicates(self, counts):
        assert counts.duplicates / counts.total == pytest.approx(0.3, rel=0.12)

    def test_low_labels_are_more_frequent(self, records):
        counts = Counter(r.get("gain") for r in results_of(records) if r.get("gain", 0) in range(5))
        assert counts[0] > counts[1] > counts[2] > counts[3] > counts[4] > 0

    def test_shares_of_unlabelled_results_bad_records_and_several_turns(self, records):
        results = results_of(records)
        unlabelled = sum("gain" not in result for result in results) / len(results)
        bad = sum(bool(faults_of(record)) for record in records) / len(records)
        turns = {}
        for record in records:
            turns.setdefault(record["conversation_id"], set()).add(record["turn"])
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
            (record["conversation_id"], record["turn"], record["iteration"])
            for record in sample_records(options)
            if not faults_of(record)
        }
        iterations = Counter(conversation_id for conversation_id, _, _ in places)
        assert set(iterations.values()) == {3}

    def test_some_copies_have_another_label(self, records):
        labels = {}
        for result in results_of(records):
            key = (result.get("url"), json.dumps(result.get("ids")), result.get("id"))
            labels.setdefault(key, set()).add(result.get("gain"))
        assert any(len(found) > 1 for found in labels.values())

    def test_scores_decrease_with_rank(self, usable):
        for record in usable:
            scores = [result["score"] for result in record["results"] if "score" in result]
            assert scores == sorted(scores, reverse=True)


def test_no_result_has_a_label_if_no_document_has_one():
    options = SampleConfig(seed=1, conversations=40, unlabelled_share=1, bad_share=0)
    gains = [result.get("gain") for result in results_of(sample_records(options))]
    assert len(gains) > 1_000
    assert set(gains) == {None}
