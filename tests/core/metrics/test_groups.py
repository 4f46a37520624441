"""Groups of metrics: every family that is listed is found by name, by column and in a plan."""

import pytest

from goodgain.transforms.core.metrics.by_name import is_by_i, metric_by_name
from goodgain.transforms.core.metrics.groups import GROUPS, NAMED, column_of, groups_in, metric_of
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.metrics.plan import plan_of

LISTED = (*GROUPS, *(group.of("a_1") for group in NAMED))
IDS = [group.title.split(";")[0] for group in LISTED]


@pytest.mark.parametrize("group", LISTED, ids=IDS)
def test_metrics_are_found_by_name_and_keep_it_as_a_column(group):
    for metric in group.metrics:
        found = metric_by_name(metric.name)
        assert found == metric or (metric.by_i and metric.name == "calls")
        assert is_by_i(metric.name) or not metric.by_i
        assert "." not in column_of(metric.name) or metric.mean_only
        assert metric_of(column_of(metric.name)) == metric.name


@pytest.mark.parametrize("group", LISTED, ids=IDS)
def test_a_plan_has_the_groups_that_its_columns_name(group):
    plan = plan_of((), 3, () if group is GAINS else (group,))
    assert {metric.name for metric in group.at_n} <= {metric.name for metric in plan.at_n}
    assert {metric.name for metric in group.by_i} <= {metric.name for metric in plan.by_i}
    assert set(groups_in(plan.columns.split())) == {GAINS, group}


def test_no_two_metrics_share_a_name_in_one_dataset():
    for part in ("at_n", "by_i"):
        names = [metric.name for group in LISTED for metric in getattr(group, part)]
        assert len(set(names)) == len(names)
