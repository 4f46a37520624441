"""What is joined in memory is what groupings join, with the same counts, problems and rejects."""

import csv
import pickle
from collections import Counter, defaultdict
from random import Random

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from goodgain.pipeline.run.hosts.joins_in_memory import (
    JoinedInMemory,
    JoinQrelsInMemory,
    JoinTableInMemory,
)
from goodgain.pipeline.run.plan.given_tables import GivenTable
from goodgain.transforms.core.files.input_formats import CSV
from goodgain.transforms.core.files.labels import LabelTable
from goodgain.transforms.core.files.outcomes import OutcomeTable
from goodgain.transforms.core.files.side_table import SideFile
from goodgain.transforms.core.files.tables import TableFile
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import LabelKeys, LabelRequest, label_request
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.fingerprint import FingerprintCalls
from goodgain.transforms.qrels import JoinQrels
from goodgain.transforms.read import find_inputs
from goodgain.transforms.read_qrels import ReadQrels
from goodgain.transforms.side_table_join import JoinSideTable, ReadSideTable, to_rejected_rows
from tests.pipeline.runs import plain_scoring

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


def outputs_of(tmp_path, elements, type_, join):
    """The elements of each output of a join of a PCollection."""
    path = tmp_path / "joined"
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        created = pipeline | "Elements" >> beam.Create(elements).with_output_types(type_)
        tagged = [
            output | f"Tag{at}" >> beam.Map(lambda one, at: (at, one), at)
            for at, output in enumerate(join(created))
        ]
        found = tagged | beam.Flatten() | beam.combiners.ToList()
        _ = found | beam.Map(lambda every: path.write_bytes(pickle.dumps(every)))
    outputs = defaultdict(list)
    for at, element in pickle.loads(path.read_bytes()):
        outputs[at].append(element)
    return [outputs[at] for at in range(3)]


def by_conversation(payloads):
    """The content of payloads by conversation."""
    packed = defaultdict(list)
    for conversation_id, payload in payloads:
        packed[conversation_id].append(payload)
    return {conversation_id: unpack(several) for conversation_id, several in packed.items()}


def sum_of(counts):
    return {name: n for name, n in sum(map(Counter, counts), Counter()).items() if n}


def join_labels(tmp_path, requests, join):
    """Labels and pools by conversation, counts and problems."""
    payloads, problems, counts = outputs_of(tmp_path, requests, LabelRequest, join)
    labels = {}
    for conversation_id, frame in by_conversation(payloads).items():
        gains = {topic: known for topic, known in frame.external.labels.items() if known}
        labels[conversation_id] = gains, frame.external.pools
    return labels, sum_of(counts), sorted(problems)


@pytest.mark.parametrize("topic_attribute", [None, "query"])
def test_judgments_as_by_groupings(tmp_path, topic_attribute):
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

        expected = join_labels(tmp_path, requests, by_groupings)
        found = join_labels(tmp_path, requests, in_memory)
        assert found[2] == expected[2]
        assert bool(found[2]) == (number == 4)
        if not found[2]:  # else the run fails
            assert found == expected
            labelled += len(found[0])
    assert labelled > 10


CONVERSATIONS = [f"c{number}" for number in range(6)]
RECORDS = ["a/1", "a/2", "b/1", "3", "no such", None]


def some_calls(random):
    return [
        SearchCall(
            random.choice(CONVERSATIONS[:5]),
            iteration=random.randint(1, 3),
            record_id=random.choice([*RECORDS[:4], None]),
            results=[Result(id="x")] * random.randrange(4),
        )
        for _ in range(random.randrange(20))
    ]


def some_labels(random):
    """Rows that name their results in every way, or in none; some match several conversations."""
    for _ in range(random.randrange(1, 40)):
        record = random.choice(RECORDS)
        span = random.choice(["1", "2", "4"])
        named = random.choice(
            [
                {
                    "conversation_id": random.choice(CONVERSATIONS),
                    "iteration": random.randint(1, 4),
                },
                {"record_id": record},
                {"trace_id": random.choice("ab"), "span_id": span},
                {"span_id": span},
                {"conversation_id": random.choice(CONVERSATIONS), "span_id": span},
            ]
        )
        yield {**named, "rank": random.randint(1, 3), "gain": random.choice(["", 0, 1, 2, "good"])}


def some_outcomes(random):
    """Rows of which some repeat or contradict another."""
    for _ in range(random.randrange(1, 12)):
        values = {name: random.choice(["", 0, 1, 0, 1, "odd"]) for name in ("correct", "rated")}
        yield {"conversation_id": random.choice([*CONVERSATIONS, ""]), **values}


def given_in(path, table, rows):
    columns = sorted({name for row in rows for name in row})
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    file = SideFile(TableFile(str(path), CSV), path.stat().st_size, 0)
    return GivenTable(table, (file,))


def with_rows(tmp_path, calls, join):
    """Labels and outcomes by conversation, rejected rows and counts."""

    def of_calls(created):
        packing = Packing.of(plain_scoring())
        return join(created | FingerprintCalls(packing))

    payloads, rejected, counts = outputs_of(tmp_path, calls, SearchCall, of_calls)
    found = {
        conversation_id: (sorted(frame.labels), frame.outcomes)
        for conversation_id, frame in by_conversation(payloads).items()
    }
    return found, sorted(rejected, key=lambda row: row.position), sum_of(counts)


@pytest.mark.parametrize(
    ("table", "some_rows"), [(LabelTable(), some_labels), (OutcomeTable(), some_outcomes)]
)
def test_rows_as_by_groupings(tmp_path, table, some_rows):
    random = Random(11)
    joined_rows = rejected_rows = 0
    for number in range(10):
        given = given_in(tmp_path / "rows.csv", table, list(some_rows(random)))
        calls = some_calls(random) if number else []

        def by_groupings(payloads, given=given):
            read = payloads.pipeline | "Read" >> ReadSideTable(given.table, given.files)
            rows = payloads | JoinSideTable(given.table, read.rows)
            unused = rows.unused | "Unused" >> to_rejected_rows(given.files)
            return JoinedInMemory(
                rows.payloads,
                (read.rejected, unused) | "Rejected" >> beam.Flatten(),
                (read.counts, rows.counts) | "Counts" >> beam.Flatten(),
            )

        def in_memory(payloads, given=given):
            return payloads | JoinTableInMemory(given)

        found = with_rows(tmp_path, calls, in_memory)
        assert found == with_rows(tmp_path, calls, by_groupings)
        joined_rows += len(found[0])
        rejected_rows += len(found[1])
    assert joined_rows > 10
    assert rejected_rows > 20
