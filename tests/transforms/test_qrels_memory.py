"""The memory of the join with judgments does not grow with their number (SPEC 8).

The values of a key come from an iterable that creates them on each pass, like those of an engine
that keeps them on disk. Outputs are counted and dropped.
"""

import gzip
from itertools import chain

import pytest

from goodgain.transforms import qrels_joins
from goodgain.transforms.core.files import text_lines
from goodgain.transforms.core.files.qrels import read_qrels
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.judgments.judgment import (
    Judgment,
    JudgmentPlace,
    LabelRequest,
    document_digest,
)
from goodgain.transforms.core.records.search_call import SearchCall
from tests.memory import measure_peak

pytestmark = pytest.mark.slow

HELD = 500  # instead of 100,000, so that small inputs are much larger than it
CHUNK = 16 * 1024  # bytes, instead of a megabyte
FEW, MANY = 3_000, 18_000
MOST_GROWTH = 1.15


class Repeatable:
    """An iterable that holds nothing and can be iterated again."""

    def __init__(self, make):
        self._make = make

    def __iter__(self):
        return self._make()


def run(dofn, elements):
    """The number of outputs of one bundle."""
    dofn.setup()
    dofn.start_bundle()
    outputs = 0
    for element in elements:
        outputs += sum(1 for _ in dofn.process(element))
    return outputs + sum(1 for _ in dofn.finish_bundle())


def judgment_line(topic, document, gain=2):
    (pair,) = qrels_joins.key_by_document(
        Judgment(topic, document, gain, JudgmentPlace(0, 7)), None
    )
    return pair


def asking(number):
    return qrels_joins._REQUEST + f"conversation {number}".encode()


def many_conversations(size):
    """Many conversations in one bundle, each with two requests for the same document."""
    requests = (LabelRequest(f"conversation {at}", ["d"]) for at in range(size))
    elements = ((key, [value] * 2) for key, value in map(qrels_joins.key_by_conversation, requests))
    return run(qrels_joins.RequestJudgments(), elements)


def topics_of_one_document(size):
    """Many topics in one bundle."""
    return run(
        qrels_joins.LabelDocument(None),
        ((key, [label]) for key, label in many_keys(size, "topic {}", "d")),
    )


def one_hot_topic(size):
    """Many judged documents of one topic, each returned in two conversations."""
    elements = (
        (key, [asking(at), label, asking(-at)])
        for at, (key, label) in enumerate(many_keys(size, "hot", "document {}"))
    )
    return run(qrels_joins.LabelDocument(None), elements)


def many_keys(size, topic, document):
    return (judgment_line(topic.format(at), document.format(at)) for at in range(size))


def one_hot_document(size):
    """One document of a topic, repeated in the files and returned in many conversations."""
    key, label = judgment_line("hot", "document")
    values = Repeatable(lambda: chain((label for _ in range(size)), map(asking, range(size))))
    return run(qrels_joins.LabelDocument(None), [(key, values)])


def pool_of_one_topic(size):
    """One topic with many conversations and many bundles of judgments."""
    pool = qrels_joins._JUDGMENT + qrels_joins._encode([5, 4, 3, 2, 1])
    values = Repeatable(lambda: chain((pool for _ in range(size)), map(asking, range(size))))
    return run(qrels_joins.SendPool(), [(b"hot", values)])


@pytest.mark.parametrize(
    ("work", "outputs_per_element"),
    [
        (many_conversations, 2),
        (topics_of_one_document, 1),
        (one_hot_topic, 2),
        (one_hot_document, 1),
        (pool_of_one_topic, 1),
    ],
)
def test_memory_of_a_bundle_does_not_grow_with_judgments(work, outputs_per_element, monkeypatch):
    monkeypatch.setattr(qrels_joins, "_MOST_HELD", HELD)
    few, _ = measure_peak(work, FEW)
    many, outputs = measure_peak(work, MANY, limit=few * MOST_GROWTH)
    assert outputs >= outputs_per_element * MANY  # nothing was skipped
    assert many < few * MOST_GROWTH, (few, many)


def test_a_conversation_whose_records_have_many_topics_asks_under_one():
    """A request for the pool of the topic, and one for each document."""
    records = {
        document_digest(f"{topic} {at}").hex(): SearchCall(
            "c", at, record_id=f"r{topic} {at}", attributes={"a": f"t{topic}"}
        )
        for topic in range(20)
        for at in (1, 2)
    }
    request = LabelRequest("c", [f"d{at}" for at in range(30)], "a", records)
    key, value = qrels_joins.key_by_conversation(request)
    assert run(qrels_joins.RequestJudgments(), [(key, [value])]) == 1 + 30


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".jsonl"])
def test_memory_of_reading_does_not_grow_with_the_file(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(text_lines, "_CHUNK", CHUNK)

    def work(size):
        path = tmp_path / f"{size}{suffix}"
        shards = plan_shards(path.open("rb"), str(path), path.stat().st_size)
        return sum(
            1 for shard in shards for _ in read_qrels(shard, 0, lambda name: open(name, "rb"))
        )

    def write(size):
        opened = gzip.open if suffix.endswith("gz") else open
        with opened(tmp_path / f"{size}{suffix}", "wt") as file:
            for at in range(size):
                row = f'{{"topic": "t{at % 9}", "doc_id": "document-{at}", "gain": {at % 5}}}'
                line = row if suffix == ".jsonl" else f"t{at % 9} 0 document-{at} {at % 5}"
                file.write(line + "\n")

    write(FEW)
    write(MANY)
    few, _ = measure_peak(work, FEW)
    many, read = measure_peak(work, MANY, limit=few * MOST_GROWTH)
    assert read == MANY
    assert many < few * MOST_GROWTH, (few, many)
