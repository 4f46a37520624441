"""Generated judgments of names that documents share, against the brute-force reference (SPEC 8).

Also the property that no share exceeds 1.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.metrics.plan import plan_of
from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.families import FAMILIES
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from goodgain.transforms.core.ranking.ranked_list import UNJUDGED
from tests.core.judgments.judged import score_judged
from tests.core.ranking.agreement import disagreements
from tests.core.ranking.naive import evaluate
from tests.reference.judging import judge

# Every family but those of aspects, and auc, for which calls matter: plain, and with cutoffs or
# persistences if it takes them.
RANKING = tuple(
    name
    for family in FAMILIES.values()
    if not family.of_aspects and family.name != "auc"
    for name in {
        "none": (family.name,),
        "cutoff": (family.name, f"{family.name}@1", f"{family.name}@3"),
        "persistence": (f"{family.name}.8", f"{family.name}.3"),
    }[family.argument]
)
SHARES = ("0..1", "0 or 1")
ID_NAME = "name"

# Few values, so that documents share names, and copies differ from first occurrences in names.
names = st.sampled_from(["n1", "n2", " n2 ", "N1", "n3", "n4", "", " "])
results = st.fixed_dictionaries(
    {"ids": st.fixed_dictionaries(
        {}, optional={"doc_id": st.sampled_from("ABCD"), ID_NAME: st.lists(names, max_size=3)}
    )},
    optional={
        "id": st.sampled_from(["n1", "n3", "g"]),
        "url": st.sampled_from(["http://x/1", "http://x/2"]),
        "gain": st.integers(0, 4),
    },
)  # fmt: skip
records = st.lists(
    st.builds(
        lambda call, iteration, turn, topic, found: {
            "conversation_id": "c",
            "turn": turn,
            "iteration": iteration,
            "call": call,
            "attributes": {} if topic is None else {"topic": topic},
            "results": found,
        },
        st.integers(0, 1),
        st.integers(1, 3),
        st.sampled_from([2, 2, 1]),
        st.sampled_from(["t", " t ", "u", "", None]),
        st.lists(results, max_size=5),
    ),
    min_size=1,
    max_size=5,
)
judgments = st.dictionaries(
    st.tuples(st.sampled_from(["t", "u", "c"]), st.sampled_from(["n1", "N1", "n2", "n3", "n4"])),
    st.integers(-1, 4),
    max_size=8,
)
topics = st.sampled_from([None, "topic"])
thorough = settings(max_examples=120)


@given(records, judgments, topics)
@thorough
def test_labels_and_metrics_equal_those_of_the_reference(given_records, qrels, topic):
    expected = judge(given_records, qrels, id_name=ID_NAME, topic_attribute=topic)
    found = score_judged(given_records, qrels, LabelKeys(ID_NAME, topic), metrics=RANKING)
    row = found.conversation
    counted = ("judgments_met_again", "unlabelled", "CG", "GR")
    assert {name: row[name] for name in counted} == {name: expected[name] for name in counted}
    assert row["qrels_best"] == max(expected["pool"], default=None)
    labels = [UNJUDGED if label is None else label for label in expected["labels"]]
    naive = {name: evaluate(name, labels, expected["pool"]) for name in RANKING}
    assert not disagreements({name: row[name] for name in RANKING}, naive, rel=1e-9, abs=1e-12)


@pytest.mark.slow
@given(records, judgments, topics, st.sampled_from(["compact", "hold_slot"]))
@thorough
def test_no_share_exceeds_1(given_records, qrels, topic, duplicates):
    found = score_judged(
        given_records,
        qrels,
        LabelKeys(ID_NAME, topic),
        metrics=RANKING,
        per_call=True,
        duplicates=duplicates,
        bounds=True,
    )
    assert found.best is not None
    plan = plan_of(parse_ranking_metrics(RANKING), max_i=10)
    at_n = [found.conversation.values, found.best.at_n]
    calls = [*(call.values for call in found.calls), *found.best.calls]
    shares = [
        value
        for metrics, rows in (
            (plan.at_n, at_n),
            (plan.by_i, [*found.by_i, *found.best.by_i]),
            (plan.ranking, calls),
        )
        for row in rows
        for metric, value in zip(metrics, row, strict=True)
        if metric.unit in SHARES
    ]
    assert all(value is None or 0.0 <= value <= 1.0 for value in shares)


def test_rounding_lifts_no_share_above_1():
    """Floating-point sums of many decreasing terms may slightly exceed 1."""
    long = RankingEvaluator(parse_ranking_metrics(["rbp.95", "rbp.3", "rbp_residual.8"]), 2)
    assert max(long.evaluate([4] * 2000, [4] * 2000)) <= 1.0
    assert max(long.evaluate([UNJUDGED] * 100, [])) <= 1.0
    nearly = [4] * 10 + [3] * 6 + [2, 2, 1, 2, 1, 1] + [0] * 6
    assert RankingEvaluator(parse_ranking_metrics(["nerr"]), 2).evaluate(nearly, nearly) == (1.0,)
