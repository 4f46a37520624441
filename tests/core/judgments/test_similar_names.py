"""Names written otherwise than a judged one are counted, in a process as in a pipeline (SPEC 8)."""

import unicodedata
from random import Random

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from goodgain.pipeline.run.plan.joined_judgments import join
from goodgain.transforms.core.judgments.joining import add_judgment
from goodgain.transforms.core.judgments.judgment import (
    Judgment,
    JudgmentPlace,
    LabelKeys,
    label_request,
)
from goodgain.transforms.core.judgments.similar_names import count_similar, plain_name
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.qrels import JoinQrels

NFC, NFD = (unicodedata.normalize(form, "Zürich") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(
    ("asked", "judged", "similar"),
    [
        ([NFD], [NFC], 1),
        ([NFC], [NFD], 1),
        ([NFC], [NFC], 0),
        ([NFC, NFD], [NFC, NFD], 0),
        (["a%20b"], ["a b"], 1),
        (["a b"], ["a%20b"], 1),
        (["a b", "a%20b", "%61 b"], ["a%20b"], 2),
        ([NFD], [], 0),
        ([], [NFC], 0),
        (["a"], ["b"], 0),
        (["a"], ["a"], 0),
        (["A"], ["a"], 0),
    ],
)
def test_counts_names_that_are_not_judged_but_written_otherwise(asked, judged, similar):
    assert count_similar(asked, judged) == similar


def test_names_of_another_topic_are_not_similar():
    calls = [SearchCall("t", iteration=1, results=[Result(id=NFD)])]
    request = label_request("t", calls, [b"digest"], LabelKeys("doc_id"))
    judged = {}
    add_judgment(judged, Judgment("u", NFC, 3, JudgmentPlace(0, 1)))
    assert join([request], judged)[1]["qrels.similar_names"] == 0
    add_judgment(judged, Judgment("t", NFC, 3, JudgmentPlace(0, 2)))
    assert join([request], judged)[1]["qrels.similar_names"] == 1


def test_a_plain_name_stays():
    for name in ("a", NFC, "100 %", "%zz"):
        assert plain_name(plain_name(name)) == plain_name(name)


@pytest.mark.slow
def test_a_pipeline_counts_the_same():
    random = Random(3)
    forms = [NFC, NFD, "a b", "a%20b", "%61 b", "plain", "%70lain"]
    keys = LabelKeys("doc_id")
    requests = [
        label_request(
            name,
            [SearchCall(name, iteration=1, results=[Result(id=name) for name in names])],
            [b"digest"],
            keys,
        )
        for name in ("t", "u", "v")
        for names in [random.sample(forms, 4)]
    ]
    judgments = [
        Judgment(topic, form, random.choice([None, 0, 3]), JudgmentPlace(0, at))
        for topic in ("t", "u", "v")
        for at, form in enumerate(random.sample(forms, 4))
    ]
    judged = {}
    for judgment in judgments:
        add_judgment(judged, judgment)
    _, counts = join(requests, judged)
    assert counts["qrels.similar_names"] > 0
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        joined = (
            pipeline
            | "Requests" >> beam.Create(requests)
            | JoinQrels(pipeline | "Judgments" >> beam.Create(judgments))
        )
        similar = joined.counts | beam.Map(lambda one: one.get("qrels.similar_names", 0))
        total = similar | beam.CombineGlobally(sum)
        assert_that(total, equal_to([counts["qrels.similar_names"]]))
