"""With `--qrels-topic` every record has the topic of its conversation (SPEC 6, 8)."""

import json

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from tests.pipeline.runs import manifest, rows, run, write_jsonl

pytestmark = pytest.mark.slow

QRELS = "t 0 a 2\nt 0 b 3\nt 0 d 2\nu 0 a 4\nu 0 x 4\n"
OPTIONS = ("--qrels-topic", "query_id", "--metrics", "recall", "--allow-unlabelled")
BY_T, BY_U, UNJUDGED = ([2, 3, 2], 1.0), ([4, None, None], 0.5), ([None] * 3, None)
LAST_TURN = {"turn": 2, "iteration": 1}
OLD, NEW = ({"record_id": "r", "timestamp": time} for time in (1, 2))
# The topic of each record, further fields of each; labels and recall, conversations without topic
# and with several.
CASES = {
    "on the first record": (("t", None, None), {}, BY_T, 0, 0),
    "on the last record": ((None, None, " t "), {}, BY_T, 0, 0),
    "the last of two": (("u", "t", None), {}, BY_T, 0, 1),
    "a blank one is none": (("u", " ", ""), {}, BY_U, 0, 0),
    "the last without judgments": (("t", "t", "v"), {}, UNJUDGED, 0, 1),
    "none": ((None, "", " "), {}, UNJUDGED, 1, 0),
    "of an earlier turn": (("t", None, None), {1: LAST_TURN, 2: LAST_TURN}, ([2, 3], 2 / 3), 0, 0),
    "of a superseded delivery": (("u", None, None), {0: OLD, 1: NEW}, ([None] * 2, None), 1, 0),
    # The records with a, d and b have digests that begin with 39, 6e and be.
    "decided by digests": (("u", "t", "u"), {1: {"iteration": 1}, 2: {"iteration": 1}},
                           ([2, 2, 3], 1.0), 0, 1),
}  # fmt: skip


def conversation(topics, more):
    return [
        {
            "conversation_id": "c",
            "iteration": at + 1,
            "attributes": {} if topic is None else {"query_id": topic},
            "results": [{"ids": {"doc_id": "abd"[at]}, "gain": 1}],
            **more.get(at, {}),
        }
        for at, topic in enumerate(topics)
    ]


def shown_labels(explained):
    return [
        result["gain"]
        for iteration in explained["iterations"]
        for call in iteration["search_calls"]
        for result in call["results"]
    ]


@pytest.mark.parametrize("native", ["on", "off"])
@pytest.mark.parametrize("case", CASES)
def test_every_record_has_the_labels_of_the_conversation_s_topic(
    case, native, tmp_path, capsys, monkeypatch
):
    topics, more, (labels, recall), without_topic, several = CASES[case]
    monkeypatch.setenv("GOODGAIN_NATIVE", native)
    (tmp_path / "qrels.txt").write_text(QRELS)
    qrels = str(tmp_path / "qrels.txt")
    records = conversation(topics, more)
    paths = [  # each record in a payload of its own, the last one first
        write_jsonl(tmp_path / f"{at}.jsonl", [record])
        for at, record in enumerate(reversed(records))
    ]
    assert run(tmp_path / "out", paths, "--qrels", qrels, *OPTIONS) == 0
    (row,) = rows(tmp_path / "out", "conversations")
    assert row["CG"] == sum(label or 0 for label in labels)
    assert (row["unlabelled"], row["recall"]) == (labels.count(None), recall)
    counted = manifest(tmp_path / "out")["qrels"]
    assert counted["conversations_without_topic"] == without_topic
    assert counted["conversations_with_several_topics"] == several

    found = gg.evaluate(
        records, qrels=qrels, qrels_topic="query_id", metrics=["recall"], allow_unlabelled=True
    )
    assert found.conversations.stored() == [row]
    counted.pop("files")
    assert {name: getattr(found.manifest.qrels, name) for name in counted} == counted

    capsys.readouterr()
    words = ["explain", "c", "--input", *paths, "--qrels", qrels, *OPTIONS[:-1], "--json"]
    assert main(words) == 0
    explained = json.loads(capsys.readouterr().out)
    assert shown_labels(explained) == labels
    assert explained["conversation"]["CG"] == row["CG"]
