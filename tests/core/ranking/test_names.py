"""Every metric has one spelling."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.ranking.families import FAMILIES
from goodgain.transforms.core.ranking.names import (
    DEFAULT_RANKING_METRICS,
    RankingMetric,
    column_name,
    metric_name,
    nearest_name,
    parse_ranking_metrics,
    respell,
)

BY_ARGUMENT = {
    kind: [family.name for family in FAMILIES.values() if family.argument == kind]
    for kind in ("none", "cutoff", "persistence")
}
digits = st.from_regex(r"[0-9]{0,8}[1-9]", fullmatch=True)
good_names = st.one_of(
    st.sampled_from(BY_ARGUMENT["none"] + BY_ARGUMENT["cutoff"]),
    st.builds("{}@{}".format, st.sampled_from(BY_ARGUMENT["cutoff"]), st.integers(1, 999_999_999)),
    st.builds("{}.{}".format, st.sampled_from(BY_ARGUMENT["persistence"]), digits),
)
OTHER_COLUMNS = [
    *("CG_at_i", "DCG_at_i", "R_at_i", "SRE_at_i", "conversation_id", "i", "R_i", "N", "CG"),
    *("iterations_after_last_good", "foo_at_3", "foo_p_3", "auc_at_10", "rbp_at_10", "ndcg_p_8"),
]


def test_names_are_parsed():
    assert parse_ranking_metrics(["ndcg@10", "rbp.95", " auc ", "rbp_residual.05"]) == (
        RankingMetric(name="ndcg@10", family="ndcg", k=10),
        RankingMetric(name="rbp.95", family="rbp", p=0.95),
        RankingMetric(name="auc", family="auc"),
        RankingMetric(name="rbp_residual.05", family="rbp_residual", p=0.05),
    )


@given(good_names)
def test_a_valid_name_is_unchanged(name):
    (metric,) = parse_ranking_metrics([name])
    assert metric.name == name == metric.declaration.name


@given(st.lists(good_names, unique=True))
def test_columns_are_reversible_and_distinct(names):
    columns = [column_name(name) for name in names]
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", column) for column in columns)
    assert [metric_name(column) for column in columns] == names
    assert len(set(columns)) == len(names)


def test_column_spelling_is_fixed():
    assert column_name("ndcg@10") == "ndcg_at_10"
    assert column_name("rbp.8") == "rbp_p_8"
    assert column_name("rbp_residual.05") == "rbp_residual_p_05"


@pytest.mark.parametrize("column", OTHER_COLUMNS)
def test_other_columns_are_unchanged(column):
    assert column_name(column) == column == metric_name(column)


@pytest.mark.parametrize(
    ("bad", "nearest"),
    [
        ("ndgc@10", "ndcg@10"),
        ("ndcg10", "ndcg@10"),
        ("ndcg@010", "ndcg@10"),
        ("ndcg@0", "ndcg@1"),
        ("recip_rnk", "mrr"),
        ("P@05", "precision@5"),
        ("rbp_", "rbp.8"),
        ("rbp", "rbp.8"),
        ("rbp.80", "rbp.8"),
        ("rbp@95", "rbp.95"),
        ("rbp_residual", "rbp_residual.8"),
        ("rbp.0", "rbp.8"),
        ("auc@10", "auc"),
        ("bpref.5", "bpref"),
    ],
)
def test_the_nearest_valid_name_is_suggested(bad, nearest):
    with pytest.raises(UsageError, match=re.escape(f"'{bad}' (did you mean '{nearest}'?)")):
        parse_ranking_metrics([bad])


@pytest.mark.parametrize(
    ("other", "ours"),
    [
        ("NDCG@10", "ndcg@10"),
        ("nDCG", "ndcg"),
        ("ndcg_cut_10", "ndcg@10"),
        ("P@5", "precision@5"),
        ("P_5", "precision@5"),
        ("AP", "map"),
        ("AP@100", "map@100"),
        ("map_cut_10", "map@10"),
        ("R@100", "recall@100"),
        ("recall_100", "recall@100"),
        ("RR", "mrr"),
        ("recip_rank", "mrr"),
        ("Rprec", "r_precision"),
        ("Success@1", "hit_rate@1"),
        ("success_5", "hit_rate@5"),
        ("F1", "f1"),
        ("F1@5", "f1@5"),
        ("DCG@5", "dcg@5"),
        ("RBP(p=0.8)", "rbp.8"),
        ("num_rel_ret", "hits"),
    ],
)
def test_names_of_other_tools_are_accepted(other, ours):
    assert [metric.name for metric in parse_ranking_metrics([other])] == [ours]
    with pytest.raises(UsageError, match="more than once"):
        parse_ranking_metrics([other, ours])


@pytest.mark.parametrize("name", ["CG", "DCG", "R"])
def test_metrics_over_iterations_are_not_ranking_metrics(name):
    assert respell(name) == name
    with pytest.raises(UsageError, match="Unknown"):
        parse_ranking_metrics([name])


@given(st.text(max_size=20))
def test_every_suggestion_is_valid(text):
    parse_ranking_metrics([nearest_name(text)])


def test_all_bad_names_are_reported_at_once():
    with pytest.raises(UsageError) as raised:
        parse_ranking_metrics(["ndgc@10", "map", "rpb.8", "precison@5"])
    message = str(raised.value)
    assert "'ndgc@10' (did you mean 'ndcg@10'?), 'rpb.8' (did you mean 'rbp.8'?)" in message
    assert "'precison@5' (did you mean 'precision@5'?)" in message
    assert "'map'" not in message


def test_rejects_repeated_names():
    with pytest.raises(UsageError, match=r"more than once: 'map'; give each once"):
        parse_ranking_metrics(["map", "ndcg@5", "map"])


def test_the_defaults_name_each_metric_once():
    names = [metric.name for metric in DEFAULT_RANKING_METRICS]
    assert parse_ranking_metrics(names) == DEFAULT_RANKING_METRICS
