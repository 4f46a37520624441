"""Which cluster a pair belongs to, and which clusters two runs have in common (SPEC 6)."""

import numpy as np
import pytest

from goodgain.pipeline.comparison.arms import Arm
from goodgain.pipeline.comparison.clusters import cluster_codes, common_cluster
from goodgain.pipeline.comparison.matching import BY_ID, match


def arm(**queries):
    """Conversations with these query ids."""
    attributes = tuple({"query_id": query} for query in queries.values())
    return Arm("arm", tuple(queries), attributes, np.ones(len(queries), np.int64), {}, {}, {})


def test_a_pair_whose_cluster_stands_only_in_the_candidate():
    matched = match(
        arm(a="", b="q", c="", d=""), arm(a="q", b="other", c="r", d=""), BY_ID, paired=True
    )
    a, b, c, d = cluster_codes(matched, "query_id").by_key
    assert a == b
    assert len({a, c, d}) == 3


@pytest.mark.parametrize(
    ("base", "candidate", "common"),
    [("q", "q", "q"), ("q", "r", None), ("q", None, None), (None, "q", None), (None, None, None)],
)
def test_runs_that_were_clustered_differently_have_no_cluster_in_common(base, candidate, common):
    of_base, of_candidate = ({"parameters": {"cluster": name}} for name in (base, candidate))
    assert common_cluster(of_base, of_candidate) == common
