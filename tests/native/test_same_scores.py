"""Native code and Python give the same scores, bit for bit."""

from collections import defaultdict
from contextlib import suppress
from itertools import pairwise
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from goodgain.pipeline.run.plan.joined_judgments import join
from goodgain.transforms.conversation_closing import CloseConversation
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, ResultFingerprint
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.external_labels import ExternalLabels
from goodgain.transforms.core.judgments.joining import DocumentJudgments
from goodgain.transforms.core.judgments.judgment import JudgmentPlace, LabelKeys
from goodgain.transforms.core.judgments.result_labels import ResultLabel
from goodgain.transforms.core.native import SWITCH
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.packing import Packer, Packing
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from goodgain.transforms.core.scoring.topic_request import topic_request
from goodgain.transforms.core.streaming.closing import Conversation
from goodgain.transforms.core.streaming.options import Closing
from tests.adversarial import trace
from tests.core.direct import fingerprints, score_payloads, scoring, shipped_rules
from tests.native.generated_calls import COSTS, any_call, any_calls, digest, seeds, some
from tests.native.paths import needs_native

pytestmark = needs_native

METRICS = ("ndcg@10", "mrr", "auc", "judged@5")
SLOTS = st.sampled_from(["compact", "hold_slot"])
encode = msgspec.msgpack.Encoder(order="sorted").encode
# More names than there are numbers of one byte, so that some are known by their digests.
MANY_NAMES = compile_rules(
    read_rules(
        "types:\n  default: {definitive: [doc_id], container: ["
        + ", ".join(f"site{number}" for number in range(40))
        + "], reject_on: all, points: {'any other field': 1, needed: 3, "
        "'needed with id context': 1, extra70: 2, "
        + ", ".join(f"extra{number}: 1" for number in range(70))
        + "}}\n  File: {definitive: [file_id], reject_on: [extra69, file_name], duplicate_if: "
        "[[file_name, {at_least: 2, of: [author, title, ids.item, extra68]}]]}\n"
    )
)


def shuffle_payloads(random, calls):
    """The calls shuffled and split into payloads, some with rejected records."""
    calls = random.sample(calls, len(calls))
    cuts = sorted(random.randrange(len(calls) + 1) for _ in range(random.randrange(3)))
    return [
        payload(calls[start:end], random.choice([0, 0, 2]))
        for start, end in pairwise([0, *cuts, len(calls)])
    ]


def test_outcomes_beside_the_records():
    calls = next(iter(fingerprints(trace(Random(3), conversations=1)).values()))
    given = payload((), outcomes={"correct": 0.0, "new": 2.0})
    config = scoring(metrics=METRICS, outcome=("correct", "new"))
    for packed in ([payload(calls), given], [given, payload(calls)], [given + payload(calls)]):
        row = score_payloads("c", packed, config).conversation
        assert (row["outcome.correct"], row["outcome.new"]) == (0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["full", "ids", "none"])
@pytest.mark.parametrize("max_candidates", [1, 2, 256])
def test_adversarial_traces(policy, max_candidates):
    random = Random(max_candidates)
    config = scoring(shipped_rules(max_candidates, policy), METRICS, cost=COSTS)
    for details, duplicates in ((False, "compact"), (True, "hold_slot")):
        by_conversation = fingerprints(trace(random, conversations=40))
        settings = replace(config, duplicates=duplicates, per_call=details, bounds=details)
        for name, calls in by_conversation.items():
            score_payloads(name, shuffle_payloads(random, calls), settings, 1)


def test_rules_with_more_names_than_numbers():
    random = Random(3)
    config = scoring(MANY_NAMES, METRICS)
    for number in range(60):
        records = [
            {
                "conversation_id": "c",
                "iteration": iteration,
                "call": 0,
                "results": [result_of(random) for _ in range(6)],
            }
            for iteration in range(1, 5)
        ]
        calls = fingerprints(records, MANY_NAMES)["c"]
        score_payloads(f"c{number}", shuffle_payloads(random, calls), config)


def result_of(random):
    def some(names, values):
        return {name: random.choice(values) for name in names if random.random() < 0.3}

    return {
        "entity_type": random.choice([None, "File", "Odd", "odder"]),
        "id": random.choice([None, "a", "A", "b"]),
        "url": random.choice([None, None, "https://a.org/x?id=1", "https://a.org/x?id=2"]),
        "ids": some(("doc_id", "site1", "site39", "item", "other"), ["1", ["1", "2"], ["2", "3"]]),
        "fields": some(
            ("author", "file_name", "extra3", "extra68", "extra69", "extra70", "unheard"), "xy"
        ),
        "title": random.choice([None, "t", "u"]),
        "gain": random.choice([None, 0, 1, 2, 3, 4]),
        "score": random.choice([None, 0.5, 1]),
    }


CALLS = seeds.map(any_call)


@pytest.mark.slow
@given(
    seeds,
    st.sampled_from(["full", "ids", "none"]),
    st.sampled_from([1, 3, 256]),
    SLOTS,
    st.sampled_from(["document", "passage"]),
    st.sampled_from(["first", "best"]),
)
@settings(max_examples=300)
def test_any_calls(random, policy, max_candidates, duplicates, unit, document_label):
    rules = shipped_rules(max_candidates, policy, unit)
    config = scoring(
        rules,
        METRICS,
        cost=COSTS,
        duplicates=duplicates,
        document_label=document_label,
        clock=0,
        write_duplicates=True,
        per_call=True,
        bounds=document_label == "first",
        usage=True,
    )
    payloads = some(random, lambda: payload(any_calls(random, 4), 1), 3)
    score_payloads("c", payloads, config)


@st.composite
def labelled_payloads(draw):
    """Payloads of calls, and others with labels, most of them of results that there are."""
    calls = draw(st.lists(CALLS, min_size=1, max_size=5))
    labels = []
    for row in range(draw(st.integers(1, 6))):
        call = draw(st.sampled_from(calls))
        rank = draw(st.integers(1, len(call.results) + draw(st.sampled_from([0, 0, 0, 1])) or 1))
        place = {"turn": call.turn, "iteration": call.iteration}
        if draw(st.booleans()):
            place["call"] = call.call
        if call.record_id is not None and draw(st.booleans()):
            span = draw(st.booleans())
            record_id = call.record_id.rsplit("/", 1)[-1] if span else call.record_id
            place = {"record_id": record_id, "span": span}
        gain = draw(st.sampled_from([0, 3, 3, 3]))
        labels.append(ResultLabel(draw(st.integers(0, 1)), row, gain, rank, "c", **place))
    half = len(labels) // 2
    parts = [payload(calls[:2]), payload(calls[2:], 1)]
    parts += [payload((), labels=labels[:half]), payload((), labels=labels[half:])]
    return draw(st.permutations(parts))


@pytest.mark.slow
@given(labelled_payloads(), SLOTS, st.sampled_from(["first", "best"]), st.booleans())
@settings(max_examples=500)
def test_labels_of_results(payloads, duplicates, document_label, per_call):
    config = scoring(
        shipped_rules(),
        METRICS,
        duplicates=duplicates,
        document_label=document_label,
        per_call=per_call,
        write_duplicates=True,
        usage=per_call,
    )
    score_payloads("c", payloads, config)


def test_labels_that_match_no_result_are_left_to_python():
    record = {"iteration": 1, "record_id": "t/s", "results": [{"id": "a", "gain": 1}, {"id": "b"}]}
    calls = fingerprints([{**record, "conversation_id": "c"}])["c"]
    scorer = PayloadScorer(scoring())

    def folds(*labels):
        packed = [payload(calls), payload((), labels=labels)]
        score_payloads("c", packed, scoring())
        folded = scorer._folder.fold(packed)
        return folded and folded[-1][2]

    def label(rank, gain, record_id="t/s", **more):
        return ResultLabel(0, 1, gain, rank, record_id=record_id, **more)

    assert folds(label(1, 3)) == (1, 1, 0)
    assert folds(label(1, 1), label(1, 1), label(2, 0)) == (2, 0, 1)
    assert folds(label(2, 4, "s", span=True)) == (1, 0, 0)
    assert folds(label(2, 4, "s")) is None
    assert folds(label(3, 4)) is None
    assert folds(label(1, 3), label(1, 2)) is None


def test_only_the_labels_that_match_no_result_are_left_to_python(monkeypatch):
    """A wrong label is no reason to score the whole conversation there."""
    record = {"iteration": 1, "record_id": "r", "results": [{"id": "a", "gain": 1}, {"id": "b"}]}
    calls = fingerprints([{**record, "conversation_id": "c"}])["c"]
    ranks = [(1, 3), (2, 4), (2, 4), (3, 0)]
    labels = [
        ResultLabel(0, row, gain, rank, record_id="r") for row, (rank, gain) in enumerate(ranks)
    ]

    def refuse(*_):
        raise AssertionError("scored in Python")

    monkeypatch.setattr(f"{PayloadScorer.__module__}.score_conversation", refuse)
    for some_labels in (labels, labels[3:]):
        packed = [payload(calls, 2), payload((), labels=some_labels, outcomes={"correct": 1.0})]
        score = PayloadScorer(scoring()).score("c", packed, rejected_records=1)
        assert [row.place.row for row in score.rejected_labels] == [3]
        assert score.counts["labels.joined"] == (2 if len(some_labels) > 1 else 0)
        assert score.counts["labels.repeated"] == (1 if len(some_labels) > 1 else 0)
        assert score.conversation.rejected_records == 3


def judged_payloads(random):
    """Payloads of calls with the names of their results, and others with judgments."""

    def names():
        return b"".join(some(random, lambda: digest(random, 5), 3))

    def judgments():
        topics = some(random, lambda: random.choice("abc"), 2)
        gains = {
            topic: dict(some(random, lambda: (digest(random, 5), random.randint(0, 4)), 5))
            for topic in topics
        }
        pools = some(random, lambda: random.choice("abc"), 2)
        return ExternalLabels(
            {}, gains, {topic: [random.randint(0, 3) for _ in range(5)] for topic in pools}
        )

    # Deliveries of one record have the same names.
    calls = {call.record_digest: call for call in any_calls(random, 6)}.values()
    payloads = [
        payload([call], external=ExternalLabels({call.record_digest: named}))
        for call in calls
        for named in [[names() for _ in call.results]]
        if named or random.random() < 0.5
    ]
    payloads += some(random, lambda: payload((), external=judgments()), 3)
    return random.sample(payloads, len(payloads))


@pytest.mark.slow
@given(
    seeds.map(judged_payloads),
    SLOTS,
    st.sampled_from(["document", "passage"]),
    st.sampled_from([None, "a", "\x1c"]),
    st.booleans(),
    st.none() | st.sets(st.integers(0, 5), max_size=3),
)
@settings(max_examples=500)
def test_external_judgments(payloads, duplicates, unit, topic_attribute, labelled, excluded):
    keys = LabelKeys(qrels_topic=topic_attribute)
    exclusions = None
    if excluded is not None:
        names = frozenset(name.to_bytes(8) for name in excluded)
        exclusions = Exclusions(keys, dict.fromkeys(["a", "b"], names), 2 * len(names), "0")
    config = scoring(
        shipped_rules(unit=unit),
        METRICS,
        duplicates=duplicates,
        label_keys=keys if labelled else None,
        exclusions=exclusions,
        write_duplicates=True,
        per_call=True,
        bounds=True,
        usage=True,
    )
    score_payloads(" a\u2003", payloads, config)


@pytest.mark.parametrize("topic_attribute", [None, "arm"])
def test_adversarial_traces_with_judgments(topic_attribute):
    random = Random(5)
    keys = LabelKeys("file_id", topic_attribute)
    config = scoring(metrics=METRICS, label_keys=keys)
    records = list(map(parse_mapping, trace(random, conversations=80)))
    by_conversation, requests = defaultdict(list), []
    packer = Packer(Packing.of(config))
    for record in records:
        for part in [*packer.add(record, 0), *packer.rest()]:
            by_conversation[part.conversation_id].append(part.payload)
            requests.append(part.label_request)
    judged = defaultdict(dict)
    for request in requests:
        for name in request.documents:
            if random.random() < 0.7:
                gain = random.choice([None, 0, 1, 2, 4])
                of_topic = judged[topic_request([request]).topic]
                of_topic[name] = DocumentJudgments(gain, JudgmentPlace(0, 0), 1)
    labels, counts = join(requests, judged)
    assert counts["qrels.judgments"] > 20
    labelled = 0
    for name, payloads in by_conversation.items():
        packed = [*payloads, payload((), external=labels[name])]
        score = score_payloads(name, random.sample(packed, len(packed)), config)
        labelled += score.counts["results.good"]
    assert labelled > 10


def test_names_of_other_results_are_left_to_python():
    calls = fingerprints(trace(Random(1), conversations=1)).popitem()[1]
    names = ExternalLabels({call.record_digest: [b""] * 99 for call in calls})
    scorer = PayloadScorer(scoring(label_keys=LabelKeys()))
    packed = [payload(calls, external=names)]
    assert scorer._folder.fold(packed, lambda attributes: "topic") is None
    with pytest.raises(ValueError, match="zip"):
        scorer.score("c", packed)


@pytest.mark.slow
@given(seeds)
@settings(max_examples=300)
def test_damaged_payloads_never_panic(random):
    whole = bytearray(payload(any_calls(random, 3)))
    for _ in range(random.randint(1, 4)):
        whole[random.randrange(len(whole))] = random.randrange(256)
    damaged = bytes(whole[: random.choice([len(whole), random.randint(0, len(whole))])])
    with suppress(ValueError, LookupError, TypeError):
        PayloadScorer(scoring())._folder.fold([damaged])


def test_what_native_code_leaves_to_python(monkeypatch):
    calls = fingerprints(trace(Random(1), conversations=1)).popitem()[1]
    plain = [payload(calls)]
    score_payloads("c", plain, scoring())
    payloads = [payload(calls, compress=True)]
    assert PayloadScorer(scoring())._folder.fold(payloads) is None
    expected = encode(PayloadScorer(scoring()).score("c", plain))
    assert encode(PayloadScorer(scoring()).score("c", payloads)) == expected
    assert PayloadScorer(scoring(aspects=True))._folder is None
    monkeypatch.setenv(SWITCH, "0")
    assert PayloadScorer(scoring())._folder is None


def test_streams_are_folded_by_native_code(monkeypatch):
    calls = fingerprints(trace(Random(1), conversations=1)).popitem()[1]
    packed = [payload(calls[:2]), payload(calls[2:], 1)]
    expected = PayloadScorer(scoring()).score("c", packed, 2)
    close = CloseConversation(scoring(), Closing())
    close.setup()
    monkeypatch.setattr("goodgain.transforms.core.scoring.score_payloads.unpack", None)
    score = close._score("c", packed, Conversation(rejected=2, closed=5))
    assert encode(score) == encode(replace(expected, closed=5))


def test_layouts_are_forgotten_when_there_are_many():
    scorer = PayloadScorer(scoring())
    for number in range(10_050):
        codes = b"\x00\x7e" + number.to_bytes(8)
        call = CallFingerprint(
            1, 1, 0, None, None, None, False, "search", {}, bytes(16), None, {},
            [ResultFingerprint(codes, bytes(8), 1, None)] * 2,
        )  # fmt: skip
        assert scorer._folder.fold([payload([call])]) is not None
