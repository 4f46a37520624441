"""A rule may be about any metric that is declared, at the places where it has values."""

import pytest
from pydantic import ValidationError

from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.transforms.core.metrics.groups import GROUPS, NAMED

METRICS = [
    metric
    for group in (*GROUPS, *(group.of("a") for group in NAMED))
    for metric in group.metrics
    if metric.name != "calls"  # which is of iterations and of conversations
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_rules_are_at_n_or_at_an_iteration_as_declared(metric):
    at_i = {"i": 2, "population": "reached"}
    given = {"metric": metric.name, "at_most": 1}
    right, wrong = ({**given, **at_i}, given) if metric.by_i else (given, {**given, **at_i})
    assert Rule.model_validate(right).metric == metric.name
    with pytest.raises(ValidationError, match=metric.name.replace(".", r"\.")):
        Rule.model_validate(wrong)


@pytest.mark.parametrize(
    "metric", [metric for metric in METRICS if not metric.by_i], ids=lambda metric: metric.name
)
def test_changes_are_of_metrics_with_a_value_per_conversation(metric):
    rule = {"metric": metric.name, "drop_at_most": 0.1}
    if metric.mean_only:
        with pytest.raises(ValidationError, match="no value per conversation"):
            Rule.model_validate(rule)
    else:
        assert Rule.model_validate(rule).is_change
