"""Warnings about missing and low labels (SPEC 10)."""

import pytest
from msgspec import structs

from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from goodgain.transforms.core.scoring.data_counts import (
    LABELS,
    RESULTS,
    UNLABELLED,
)
from goodgain.transforms.core.warnings.check_inputs import (
    Relevance,
    SliceLabels,
)
from goodgain.transforms.core.warnings.warning import failing_warnings
from tests.core.warnings.given_counts import NOTHING_ALLOWED, RANKED, codes, warn


def test_no_labels_warns_with_a_remedy_for_the_input():
    (one,) = warn({RESULTS: 5, UNLABELLED: 5})
    assert (one.code, one.count, one.share) == ("no_labels", 5, 1.0)
    assert "--allow-unlabelled" in one.remedy
    assert "`gain`" in one.remedy
    record = {"results": [{"relevance": 3}]}
    named, _ = warn({RESULTS: 5, UNLABELLED: 5}, [record])
    assert "--map gain=relevance" in named.remedy
    (judged,) = warn({RESULTS: 5, UNLABELLED: 5}, external=True)
    assert "--qrels-id" in judged.remedy


@pytest.mark.parametrize(("unlabelled", "expected"), [(20, []), (21, ["few_labels"])])
def test_few_labels_warns_above_20_percent(unlabelled, expected):
    assert codes({RESULTS: 100, LABELS[2]: 100 - unlabelled, UNLABELLED: unlabelled}) == expected


def test_few_labels_names_unevenly_labelled_slices():
    slices = [
        SliceLabels({"arm": "a"}, 40, 40),
        SliceLabels({"arm": "b"}, 30, 10),
        SliceLabels({"arm": ""}, 30, 0),
    ]
    (one,) = warn({RESULTS: 100, LABELS[2]: 60, UNLABELLED: 40}, slices=slices)
    assert "arm = a: 100.0 %; arm = (none): 0.0 %" in one.message
    assert "arm = b" not in one.message
    assert one.message.endswith("; the means of slices without any label are undefined.")


def test_a_small_slice_without_labels_gives_a_warning():
    slices = [SliceLabels({"arm": "a"}, 1, 1), SliceLabels({"arm": "b"}, 99, 0)]
    assert codes({RESULTS: 100, LABELS[2]: 99, UNLABELLED: 1}, slices=slices) == ["few_labels"]


def test_slices_that_differ_by_no_more_than_10_points_are_not_named():
    slices = [SliceLabels({"arm": "a"}, 50, 24), SliceLabels({"arm": "b"}, 50, 16)]
    (one,) = warn({RESULTS: 100, LABELS[2]: 60, UNLABELLED: 40}, slices=slices)
    assert "unevenly" not in one.message
    slices = [SliceLabels({"arm": "a"}, 50, 28), SliceLabels({"arm": "b"}, 50, 12)]
    (one,) = warn({RESULTS: 100, LABELS[2]: 60, UNLABELLED: 40}, slices=slices)
    assert "unevenly over slices (arm = a: 56.0 %; arm = b: 24.0 %)" in one.message


def test_a_slice_without_results_gives_no_warning():
    slices = [SliceLabels({"arm": "a"}, 0, 0), SliceLabels({"arm": "b"}, 100, 0)]
    assert codes({RESULTS: 100, LABELS[2]: 100}, slices=slices) == []


def test_labels_below_the_threshold_give_a_warning():
    (one,) = warn({RESULTS: 30, LABELS[0]: 20, LABELS[1]: 10})
    assert (one.code, one.count) == ("labels_below_threshold", 30)
    assert "the greatest is 1" in one.message
    assert "--good-gain-threshold 1" in one.remedy
    assert codes({RESULTS: 3, LABELS[0]: 2, LABELS[2]: 1}) == []
    assert codes({RESULTS: 1, LABELS[2]: 1}, good_gain_threshold=3) == ["labels_below_threshold"]
    (bad,) = warn({RESULTS: 1, LABELS[0]: 1})
    assert "--good-gain-threshold 1" in bad.remedy


def test_labels_below_the_relevance_threshold_name_the_metrics_that_are_lost():
    counts = {RESULTS: 5, LABELS[1]: 2, LABELS[2]: 3}
    (one,) = warn(counts, relevance=RANKED)
    assert (one.code, one.count, one.share) == ("labels_below_relevance_threshold", 5, 1.0)
    assert "none reaches the relevance threshold 3: the greatest is 2. " in one.message
    assert one.message.endswith(" are 0 or undefined: precision@5, rbp.8.")
    assert "--relevance-threshold 2" in one.remedy
    assert failing_warnings([structs.replace(one, count=30)], NOTHING_ALLOWED) == []


@pytest.mark.parametrize(
    ("counts", "relevance"),
    [
        ({RESULTS: 2, LABELS[2]: 1, LABELS[3]: 1}, RANKED),
        ({RESULTS: 1, LABELS[2]: 1}, Relevance.of(3, parse_ranking_metrics(["ndcg", "err@5"]))),
        ({RESULTS: 1, LABELS[2]: 1}, Relevance.of(3, ())),
        ({}, RANKED),
    ],
)
def test_no_warning_if_labels_are_relevant_or_no_metric_needs_it(counts, relevance):
    assert codes(counts, relevance=relevance) == []


def test_one_threshold_for_good_and_relevant_gives_one_warning():
    counts = {RESULTS: 1, LABELS[2]: 1}
    found = codes(counts, relevance=RANKED, good_gain_threshold=3)
    assert found == ["labels_below_threshold"]


def test_at_most_five_metrics_are_named():
    names = ["hits", "hit_rate", "precision@5", "map", "mrr", "bpref", "auc"]
    (one,) = warn({RESULTS: 1, LABELS[2]: 1}, relevance=Relevance(3, tuple(names)))
    assert one.message.endswith("hits, hit_rate, precision@5, map, mrr, and 2 more.")
