"""The names of the option `metrics`."""

import pytest

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.own_names import check_names


@pytest.mark.parametrize(
    ("name", "meant"),
    [("sre", "SRE"), ("SRRE", "SRR"), ("srr", "SRR"), ("drag", "DRAG"), ("Calls", "calls")],
)
def test_metrics_of_every_run_are_suggested(name, meant):
    with pytest.raises(UsageError) as error:
        check_names(["ndcg@10", name])
    assert str(error.value) == f"There is no metric {name!r} (did you mean {meant!r}?)."


@pytest.mark.parametrize("name", ["nddcg", "ndcg10", "dcgg", "prec"])
def test_ranking_metrics_are_suggested_where_they_are_nearer(name):
    with pytest.raises(UsageError, match=f"Unknown ranking metrics: '{name}'"):
        check_names([name])


@pytest.mark.parametrize(
    ("name", "ours"), [("NDCG@10", "ndcg@10"), ("P@5", "precision@5"), ("AP", "map"), ("cg", "cg")]
)
def test_names_of_other_tools_are_no_misspelt_ones(name, ours):
    assert check_names([name, "SRE"]) == (ours, "SRE")
