"""Conversations become a TREC run and qrels of their de-duplicated lists."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.pipeline.convert.to_traces import IterationSource, TraceCounts, trace_records
from goodgain.pipeline.convert.to_trec import document_names, word, write_trec
from goodgain.pipeline.convert.trec_file import TrecFile
from goodgain.pipeline.inputs.local_files import find_local_files
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.scoring.duplicate_rows import ResultPlace
from tests.pipeline.convert.steps import (
    RULES,
    convert,
    doc,
    lines_of,
)


class TestTracesToTrec:
    @given(
        st.dictionaries(
            st.text("ab%é ", min_size=1).filter(str.strip),
            st.lists(st.text("xyz%ü 1", min_size=1, max_size=3).filter(str.strip), max_size=6),
            max_size=4,
        )
    )
    @settings(max_examples=50)
    def test_a_round_trip_keeps_the_order(self, tmp_path_factory, lists):
        folder = tmp_path_factory.mktemp("back")
        traces, run, back = (folder / name for name in ("t.jsonl", "run", "back"))
        with traces.open("w") as file:
            for conversation, documents in lists.items():
                results = [{"ids": {"doc_id": document}, "gain": 1} for document in documents]
                record = {"conversation_id": conversation, "iteration": 1, "results": results}
                file.write(json.dumps(record) + "\n")
        write_trec(find_local_files([str(traces)]), RULES, "doc_id", "tag", str(run), None)
        expected = {
            word(conversation): list(
                dict.fromkeys(word(document.strip()) for document in documents)
            )
            for conversation, documents in lists.items()
            if documents
        }
        found = {}
        for record in trace_records(TrecFile(str(run)), None, IterationSource(), TraceCounts()):
            found[record["conversation_id"]] = [
                result["ids"]["doc_id"] for result in record["results"]
            ]
        assert found == expected
        scores = {}
        for topic, _, _, _, score, _ in lines_of(run):
            scores.setdefault(topic, []).append(int(score))
        assert all(row == list(range(len(row), 0, -1)) for row in scores.values())
        assert not back.exists()

    def test_writes_only_the_last_turn_and_no_duplicates(self, tmp_path):
        records = [
            {"iteration": 1, "call": 0, "results": [doc("early", 4)]},
            {"turn": 2, "iteration": 3, "call": 0, "results": [doc("b", 1), doc("a", None)]},
            {"turn": 2, "iteration": 1, "call": 0, "results": [doc("b", 2), {"url": "http://x/"}]},
            {"turn": 2, "iteration": 1, "call": 0, "results": [doc("b", 2), {"url": "http://x/"}]},
        ]
        run, qrels, counts = convert(tmp_path, records)
        assert run == [
            ["c", "Q0", "b", "1", "3", "tag"],
            ["c", "Q0", "i1.call0.rank2", "2", "2", "tag"],
            ["c", "Q0", "a", "3", "1", "tag"],
        ]
        assert qrels == [["c", "0", "b", "2"]]
        assert (counts.documents, counts.judged, counts.named_by_position) == (3, 1, 1)

    def test_what_trec_files_cannot_hold_is_counted(self, tmp_path):
        records = [
            {"iteration": 1, "results": []},
            {"iteration": 0},
            {"conversation_id": "unlabelled", "iteration": 1, "results": [doc("a", None)]},
        ]
        _, qrels, counts = convert(tmp_path, records)
        assert qrels == []
        assert (counts.without_results, counts.without_judgments) == (1, 2)
        assert (counts.rejected_records, counts.with_rejected_records) == (1, 1)

    def test_does_not_depend_on_the_order_of_records(self, tmp_path):
        records = [
            {"conversation_id": f"c{n % 5}", "iteration": n + 1, "results": [doc(f"d{n % 7}", 1)]}
            for n in range(40)
        ]
        assert convert(tmp_path, records) == convert(tmp_path, records[::-1])

    def test_a_failure_leaves_no_files(self, tmp_path):
        with pytest.raises(UsageError, match="the folder does not exist"):
            write_trec([], RULES, "doc_id", "t", str(tmp_path / "run"), str(tmp_path / "no/qrels"))
        assert list(tmp_path.iterdir()) == []


class TestNames:
    @given(st.lists(st.text(min_size=1), unique=True, max_size=8))
    def test_words_have_no_spaces_and_stay_distinct(self, texts):
        words = [word(text) for text in texts]
        assert all(len(word.split()) == 1 and word.isprintable() for word in words)
        assert len(set(words)) == len(texts)

    def test_characters_newer_than_unicode_14_are_encoded_by_every_version_of_python(self):
        assert word("\u0431\U0001e030") == "\u0431%F0%9E%80%B0"

    def test_an_id_that_two_documents_share_names_neither(self):
        places = [ResultPlace(1, 1, 0, rank) for rank in range(1, 6)]
        names = document_names(["a", "b", "a", "", "i1.call0.rank4"], places)
        assert names == [
            "i1.call0.rank1",
            "b",
            "i1.call0.rank3",
            "i1.call0.rank4",
            "i1.call0.rank5",
        ]
        assert max(Counter(names).values()) == 1
