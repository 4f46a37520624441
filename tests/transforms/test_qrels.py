"""Judgments are joined with the conversations of their topic (SPEC 8)."""

from collections import Counter

import apache_beam as beam
import pytest
from apache_beam.testing.util import assert_that, equal_to

from goodgain.pipeline.run.engines import runners
from goodgain.transforms.core.config_text import load_rules
from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.judgments.external_labels import (
    ExternalLabels,
    document_digests,
    merge_labels,
)
from goodgain.transforms.core.judgments.judgment import (
    JUDGMENTS_DIGEST,
    Judgment,
    JudgmentPlace,
    LabelKeys,
    document_digest,
    judgment_digest,
)
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.fingerprint import FingerprintCalls
from goodgain.transforms.qrels import JoinQrels, RequestLabels
from goodgain.transforms.read_qrels import ReadQrels
from goodgain.transforms.score import ScorePayloads

pytestmark = pytest.mark.slow

RULES = compile_rules(load_rules(None))
METRICS = ("precision@5", "recall", "map", "ndcg", "judged@5")


def scoring(keys=None):
    return Scoring(RULES, metrics=METRICS, label_keys=keys)


def call(conversation, iteration, *names, topic=None, gain=None):
    """A call whose results have the given doc_ids; a tuple is a result with several."""
    ids = [list(name) if isinstance(name, tuple) else name for name in names]
    results = [
        Result(ids={"doc_id": id_} if id_ else {}, url=f"http://x/{conversation}/{id_}", gain=gain)
        for id_ in ids
    ]
    attributes = {} if topic is None else {"topic": topic}
    return SearchCall(conversation, iteration, call=0, attributes=attributes, results=results)


def judgments(*triples):
    return [
        Judgment(topic, document, gain, JudgmentPlace(0, at))
        for at, (topic, document, gain) in enumerate(triples)
    ]


def engine():
    make, options = runners.create("FnApiRunner", ())
    return beam.Pipeline(runner=make, options=options)


def check(pcollection, assertion):
    """Call `assertion` in the pipeline with all values of a PCollection."""
    assert_that(pcollection, lambda values: assertion(values), label=f"check {assertion.__name__}")


def assert_joined(calls, judged, keys, expect_gains, expect_counts=None, expect_problems=()):
    """Run the join, score, and compare gains by conversation, counts and problems."""

    def gains_are(scores):
        found = {
            score.conversation.conversation_id: (
                score.conversation.CG,
                score.conversation.unlabelled,
                score.conversation["recall"],
            )
            for score in scores
        }
        assert found == expect_gains

    def counts_are(several):
        total = Counter()
        for counts in several:
            total.update(counts)
        labelled = {
            judgment_digest(judgment.topic, judgment.document, judgment.gain)
            for judgment in judged
            if judgment.gain is not None
        }
        assert total.pop(JUDGMENTS_DIGEST, 0) == sum(labelled)
        assert {name.removeprefix("qrels."): n for name, n in total.items() if n} == expect_counts

    with engine() as pipeline:
        read = pipeline | "Calls" >> beam.Create(calls).with_output_types(SearchCall)
        known = pipeline | "Judged" >> beam.Create(judged).with_output_types(Judgment)
        labelling = read | RequestLabels(keys) | JoinQrels(known)
        fingerprints = read | FingerprintCalls(Packing(RULES, label_keys=keys))
        scored = (fingerprints, labelling.payloads) | beam.Flatten() | ScorePayloads(scoring(keys))
        check(scored.scores, gains_are)
        if expect_counts is not None:
            check(labelling.counts, counts_are)
        places = labelling.problems | beam.Map(lambda one: (one.place.at, one.other.at))
        assert_that(places, equal_to(list(expect_problems)), label="problems")


def test_labels_and_good_documents_of_a_topic_come_from_judgments():
    calls = [call("c", 1, "a", "b", gain=4), call("c", 2, "u", "d", gain=4), call("e", 1, "a")]
    judged = judgments(
        ("c", "a", 3), ("c", "b", 0), ("c", "d", 2), ("c", "never", 2), ("x", "a", 1)
    )
    assert_joined(
        calls,
        judged,
        LabelKeys(),
        {"c": (5, 1, 2 / 3), "e": (0, 1, None)},
        {
            "judgments": 5,
            "never_retrieved": 2,
            "topics": 2,
            "topics_without_conversation": 1,
            "topics_without_judgments": 1,
        },
    )


def test_the_topic_can_be_an_attribute_of_many_conversations():
    calls = [call(f"c{n}", 1, "a", f"own-{n}", topic=" 7 ") for n in range(50)]
    calls.append(call("none", 1, "a"))
    judged = judgments(("7", "a", 2), *[("7", f"own-{n}", 3) for n in range(50)])
    expected = {f"c{n}": (5, 0, 2 / 51) for n in range(50)} | {"none": (0, 1, None)}
    counts = {"judgments": 51, "topics": 1}
    assert_joined(calls, judged, LabelKeys(qrels_topic="topic"), expected, counts)


@pytest.mark.parametrize(
    ("topics", "expected", "counts"),
    [
        (("t", None, None), (7, 0, 1.0), {"never_retrieved": 2}),
        ((None, " ", " t "), (7, 0, 1.0), {"never_retrieved": 2}),
        (("u", "t", None), (7, 0, 1.0), {"never_retrieved": 2}),
        (("t", "v", "u"), (2, 2, 0.5), {"never_retrieved": 4}),
        ((None, "", " "), (0, 3, None), {"never_retrieved": 5}),
    ],
)
def test_all_records_have_the_topic_of_their_conversation(topics, expected, counts):
    calls = [call("c", at + 1, "abd"[at], topic=topic) for at, topic in enumerate(topics)]
    judged = judgments(("t", "a", 2), ("t", "b", 3), ("t", "d", 2), ("u", "a", 2), ("u", "x", 2))
    missing = 1 if expected[2] else 2
    counts = {"judgments": 5, "topics": 2, "topics_without_conversation": missing, **counts}
    keys = LabelKeys(qrels_topic="topic")
    assert_joined([calls[2], *calls[:2]], judged, keys, {"c": expected}, counts)


def test_of_several_ids_the_first_judged_one_decides():
    calls = [call("c", 1, ("u", "b", "a"), None)]
    judged = judgments(("c", "a", 4), ("c", "b", 2))
    counts = {"judgments": 2, "topics": 1, "results_without_id": 1}
    assert_joined(calls, judged, LabelKeys(), {"c": (2, 1, 0.5)}, counts)


def test_a_negative_label_counts_as_unjudged():
    judged = judgments(("c", "a", 2), ("c", "b", None))
    counts = {"judgments": 1, "unjudged": 1, "topics": 1}
    assert_joined([call("c", 1, "a", "b")], judged, LabelKeys(), {"c": (2, 1, 1.0)}, counts)


def test_repeated_judgments_count_once():
    judged = judgments(*[("c", "a", 2)] * 3)
    counts = {"judgments": 1, "repeated": 2, "topics": 1}
    assert_joined([call("c", 1, "a")], judged, LabelKeys(), {"c": (2, 0, 1.0)}, counts)


def test_conflicting_labels_of_a_document_are_reported_at_the_second():
    judged = judgments(("c", "a", 2), ("c", "a", 2), ("c", "a", 1), ("c", "a", None))
    assert_joined([call("c", 1, "a")], judged, LabelKeys(), {"c": (0, 1, None)}, None, [(2, 0)])


def test_judgments_do_not_change_what_is_redelivered():
    """Two copies that differ only in their own labels are still conflicting redeliveries."""
    keys = LabelKeys()
    calls = [call("c", 1, "a", gain=1), call("c", 1, "a", gain=2)]
    printer = Fingerprinter(RULES)
    fingerprints = [printer.call_fingerprint(call) for call in calls]
    documents = {
        fingerprint.record_digest: document_digests(call, keys)
        for fingerprint, call in zip(fingerprints, calls, strict=True)
    }
    external = ExternalLabels(documents, {"c": {document_digest("a"): 3}}, {"c": [0, 0, 0, 1, 0]})
    score = score_conversation("c", fingerprints, 0, scoring(keys), external)
    assert score.counts["conflicting_redeliveries"] == 1
    assert score.conversation.CG == 3


def test_external_labels_are_merged_in_any_number_and_order():
    parts = [
        ExternalLabels({b"r": [b"d"]}, {}, {}),
        ExternalLabels({}, {"t": {b"d": 3}}, {}),
        ExternalLabels({}, {"t": {b"e": 1}, "u": {b"d": 0}}, {}),
        ExternalLabels({}, {}, {"t": [0, 1, 0, 0, 0]}),
    ]
    whole = merge_labels(parts)
    assert merge_labels([*reversed(parts), *parts]) == whole
    assert merge_labels([whole, whole]) == whole


def test_without_label_keys_payloads_have_no_external_labels():
    def none_has_labels(payloads):
        assert [unpack([packed]).external for _, packed in payloads] == [None]

    with engine() as pipeline:
        calls = pipeline | beam.Create([call("c", 1, "a")]).with_output_types(SearchCall)
        check(calls | FingerprintCalls(Packing(RULES)), none_has_labels)


@pytest.mark.parametrize("shard_bytes", [2**20, 50])
def test_files_are_read_in_shards_and_problems_have_their_place(tmp_path, shard_bytes):
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("".join(f"t 0 d{n} {n % 5}\n" for n in range(40)))
    bad.write_text("t 0 d 1\nt 0 d\n")
    files = [InputFile(str(path), path.stat().st_size) for path in (good, bad)]
    with engine() as pipeline:
        read = pipeline | ReadQrels(files, shard_bytes)
        found = read.judgments | beam.Map(lambda one: (one.place.file, one.document, one.gain))
        expected = [(0, f"d{n}", n % 5) for n in range(40)] + [(1, "d", 1)]
        assert_that(found, equal_to(expected), label="judgments")
        problems = read.problems | "Places" >> beam.Map(lambda one: (one.place.file, one.place.at))
        assert_that(problems, equal_to([(1, 8)]), label="problems")
