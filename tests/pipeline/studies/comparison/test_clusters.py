"""The cluster of a pair, and the cluster attribute that two runs share (SPEC 6)."""

import numpy as np
import pytest
from msgspec.structs import replace

from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.clusters import cluster_codes, find_common_cluster
from goodgain.pipeline.studies.comparison.matching import BY_ID, match, sample
from goodgain.pipeline.studies.comparison.measures import Measure
from tests.pipeline.studies.comparison.traces import options_of_run


def arm(**queries):
    """Conversations with these query ids, by conversation id."""
    attributes = tuple({"query_id": query} for query in queries.values())
    n = np.ones(len(queries), np.int64)
    return Arm("arm", tuple(queries), attributes, n, {"N": n.astype(float)}, {}, {})


def test_a_pair_without_a_cluster_in_the_base_uses_that_of_the_candidate():
    matched = match(
        arm(a="", b="q", c="", d=""), arm(a="q", b="other", c="r", d=""), BY_ID, paired=True
    )
    measure = Measure("N", None, "all")
    a, b, c, d = cluster_codes(matched, "query_id")(sample(matched, measure), measure)
    assert a == b
    assert len({a, c, d}) == 3


@pytest.mark.parametrize(
    ("base", "candidate", "common"),
    [("q", "q", "q"), ("q", "r", None), ("q", None, None), (None, "q", None), (None, None, None)],
)
def test_only_runs_with_the_same_cluster_attribute_share_it(base, candidate, common):
    runs = (replace(options_of_run(), cluster=name) for name in (base, candidate))
    assert find_common_cluster(*runs) == common
