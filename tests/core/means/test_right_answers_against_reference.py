"""Outcomes, their relations and repeats of whole traces against the reference of SPEC 12.

Each conversation is scored in Python and natively, which must agree.
"""

from random import Random

import pytest

from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.metrics.outcomes import TurnOutcome
from goodgain.transforms.core.metrics.repeats import PassCondition
from tests.adversarial import conversation_records
from tests.core.direct import by_conversation, score, scoring
from tests.reference import evaluate
from tests.reference.right_answers import outcome_of, relation, repeats

METRICS = ("CG", "GR", "RG", "DCG", "SRE", "SRR", "R", "UR", "N", "calls")
WITHOUT_SEARCH = {"CG": 0, "GR": 0, "calls": 0}  # values of the population `everyone`
OUTCOMES = (TurnOutcome("correct"), TurnOutcome("rating", least=0.5))
NAMES = tuple(outcome.metric.name for outcome in OUTCOMES)
CONDITIONS = (PassCondition("CG", ">=", 3), PassCondition("outcome.correct", ">=", 1))
KS = (1, 2, 3)
CONVERSATIONS = 30


def traces(random):
    """Conversations of a few queries, some of which never searched, with outcomes in any record."""
    records = []
    for number in range(CONVERSATIONS):
        name, query = f"c{number}", f"q{random.randrange(8)}"
        own = conversation_records(random)
        if random.random() < 0.1:
            own = [{**record, "action": "cite", "results": []} for record in own]
        for record in own:
            record["conversation_id"] = name
            record["outcomes"] = {
                outcome: value
                for outcome, value in (
                    ("correct", random.randrange(2)),
                    ("rating", random.choice([0, 0.25, 0.5, 1])),
                )
                if random.random() < 0.4
            }
            record["attributes"] = {"query": query} if number % 7 else {}
        records += own
    return records


def expect_conversations(records):
    """The values of each conversation by the reference, with its outcomes and its cluster."""
    rows = evaluate(records)["conversations"]
    conversations = []
    for name, own in by_conversation(records).items():
        row = rows[name]
        searched = row["N"] > 0
        queries = {record["attributes"].get("query") for record in own}
        conversations.append(
            {
                **{metric: row[metric] if searched else None for metric in METRICS},
                "outcome.correct": outcome_of(own, "correct"),
                "outcome.rating": outcome_of(own, "rating", 0.5),
                "cluster": queries.pop() or name,
                "searched": searched,
                "name": name,
            }
        )
    return conversations


def everyone(conversations):
    return [
        conversation if conversation["searched"] else {**conversation, **WITHOUT_SEARCH}
        for conversation in conversations
    ]


def close(value, expected):
    if expected is None or value is None:
        return value is expected
    return value == pytest.approx(expected, abs=1e-9)


def assert_relations(rows, conversations, population, metrics, cluster):
    compared = 0
    found = {(row.outcome, row.metric): row for row in rows if row.population == population}
    for outcome in NAMES:
        for metric in metrics:
            expected = relation(conversations, outcome, metric, cluster)
            row = found[outcome, metric]
            differing = {
                name: (getattr(row, name), value)
                for name, value in expected.items()
                if not close(getattr(row, name), value)
            }
            assert not differing, (outcome, metric, differing)
            compared += row.auc is not None
    return compared


def assert_repeats(rows, conversations, population):
    """Those of each condition, and no other."""
    found = {row.metric: row for row in rows if row.population == population and row.i is None}
    for condition in CONDITIONS:
        clusters = {}
        for conversation in conversations:
            if conversation[condition.metric] is not None:
                clusters.setdefault(conversation["cluster"], []).append(
                    conversation[condition.metric]
                )
        for k in KS:
            expected = repeats(
                clusters, lambda one, test=condition: test.compare(one, test.bound), k
            )
            for name, (mean, n) in expected.items():
                row = found[f"{name}[{condition}]"]
                assert (row.n, close(row.mean, mean)) == (n, True), (name, row, mean)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))]
)
def test_generated_conversations(seed, clustered):
    random = Random(seed)
    records = traces(random)
    options = {"metrics": (), "outcome": tuple(map(str, OUTCOMES)), "max_i": 1}
    if clustered:
        options |= {"pass_": tuple(map(str, CONDITIONS)), "pass_k": KS}
    scores, plan = score(records, **options), scoring(**options).plan
    conversations = expect_conversations(records)
    for conversation in conversations:
        row = scores[conversation["name"]].conversation
        assert [row[name] for name in NAMES] == [conversation[name] for name in NAMES]
    sums = MeansAccumulator()
    for name in random.sample(sorted(scores), len(scores)):
        values = conversation_values(scores[name], plan, "query" if clustered else None)
        if values is not None:
            sums.add(values)
    cluster = (lambda one: one["cluster"]) if clustered else None
    searched = [conversation for conversation in conversations if conversation["searched"]]
    relations = list(sums.relations({}, plan))
    compared = assert_relations(relations, searched, "all", METRICS, cluster)
    assert compared > len(METRICS) / 2
    if any(
        conversation[name] is not None
        for conversation in conversations
        if not conversation["searched"]
        for name in NAMES
    ):
        assert_relations(relations, everyone(conversations), "everyone", WITHOUT_SEARCH, cluster)
    if clustered:
        rows = list(sums.rows({}, plan, "student"))
        assert_repeats(rows, searched, "all")
