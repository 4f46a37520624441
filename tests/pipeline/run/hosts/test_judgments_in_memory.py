"""Judgments joined in memory are those that groupings join, with the same counts and problems."""

import pickle
from collections import Counter, defaultdict
from random import Random

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from goodgain.pipeline.run.hosts.judgments_in_memory import JoinQrelsInMemory
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import LabelKeys, LabelRequest, label_request
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.qrels import JoinQrels
from goodgain.transforms.read import find_inputs
from goodgain.transforms.read_qrels import ReadQrels

pytestmark = pytest.mark.slow

# Some have another spelling, which may be judged or asked for although this one is excluded.
EXCLUDED = [("t1", "b"), ("t1", "a"), ("t2", "b"), ("t2", "%61"), ("t2", "e\u0301"), ("t3", "a")]
NAMES = ["a", "b", "a%20b", "%61", "\N{LATIN SMALL LETTER E WITH ACUTE}", "e\u0301"]
TOPICS = ["t1", "t2", "t3", "t4"]


def some_requests(random, keys):
    """Several for each conversation, whose records do not agree about their attributes."""
    requests = []
    for number in range(random.randrange(1, 40)):
        call = SearchCall(
            random.choice([*TOPICS, " t1 "]),
            number + 1,
            attributes={"query": random.choice([*TOPICS, " t2", "no such", ""])},
            results=[Result(id=name) for name in random.sample([*NAMES, ""], 4)],
        )
        digest = number.to_bytes(16)
        requests.append(label_request(call.conversation_id, [call], [digest], keys))
    return requests


def some_lines(random):
    """Lines of qrels, some repeated; labels of a document differ if they are few."""
    pairs = [(topic, name) for topic in TOPICS[:3] for name in NAMES]
    lines = [
        f"{topic} 0 {name} {random.randint(-1, 4)}" for topic, name in random.sample(pairs, 10)
    ]
    return [*lines, *random.sample(lines, 3)]


def joined(tmp_path, requests, join):
    """Labels and pools by conversation, counts and problems."""
    path = tmp_path / "joined"
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        created = pipeline | "Requests" >> beam.Create(requests).with_output_types(LabelRequest)
        tagged = [
            output | f"Tag{at}" >> beam.Map(lambda one, at: (at, one), at)
            for at, output in enumerate(join(created))
        ]
        found = tagged | beam.Flatten() | beam.combiners.ToList()
        _ = found | beam.Map(lambda every: path.write_bytes(pickle.dumps(every)))
    payloads, counts, problems = defaultdict(list), Counter(), []
    for at, one in pickle.loads(path.read_bytes()):
        if at == 0:
            payloads[one[0]].append(one[1])
        elif at == 1:
            problems.append(one)
        else:
            counts.update(one)
    labels = {}
    for conversation_id, packed in payloads.items():
        external = unpack(packed).external
        gains = {topic: known for topic, known in external.labels.items() if known}
        labels[conversation_id] = gains, external.pools
    return labels, counts, sorted(problems)


@pytest.mark.parametrize("topic_attribute", [None, "query"])
def test_as_by_groupings(tmp_path, topic_attribute):
    random = Random(7)
    keys = LabelKeys("doc_id", topic_attribute)
    labelled = 0
    for number in range(8):
        exclusions = Exclusions.of_pairs(keys, EXCLUDED) if number % 2 else None
        lines = some_lines(random)
        if number == 4:
            lines += ["t1 0 twice 1", "t1 0 twice 2", "t2 0 a"]
        (tmp_path / "qrels.txt").write_text("\n".join(lines), encoding="utf-8")
        requests = some_requests(random, keys) if number else []
        files = find_inputs([str(tmp_path / "qrels.txt")])

        def by_groupings(created, files=files, exclusions=exclusions):
            read = created.pipeline | "Read" >> ReadQrels(files)
            labelling = created | JoinQrels(read.judgments, exclusions)
            problems = (read.problems, labelling.problems) | "Problems" >> beam.Flatten()
            return labelling._replace(problems=problems)

        def in_memory(created, files=files, exclusions=exclusions):
            return created | JoinQrelsInMemory(files, exclusions=exclusions)

        expected = joined(tmp_path, requests, by_groupings)
        found = joined(tmp_path, requests, in_memory)
        assert found[2] == expected[2]
        assert bool(found[2]) == (number == 4)
        if not found[2]:  # else the run fails
            assert found == expected
            labelled += len(found[0])
    assert labelled > 10
