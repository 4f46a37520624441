"""Comparing two runs equals ranx, given the same values per query."""

from __future__ import annotations

import numpy as np
import pytest

from goodgain.transforms.core.comparison.differences import ComparisonOptions
from goodgain.transforms.core.comparison.paired_difference import compare_paired

METRICS = ["ndcg@10", "precision@5"]
QUERIES = 40


@pytest.fixture(scope="module")
def runs():
    """Judgments and two runs of the same queries; the candidate ranks better."""
    generator = np.random.default_rng(20)
    judged, base, candidate = {}, {}, {}
    for query in range(QUERIES):
        documents = [f"d{document}" for document in range(20)]
        grades = generator.binomial(3, 0.25, 20)
        judged[f"q{query}"] = {
            document: int(grade) for document, grade in zip(documents, grades, strict=True) if grade
        } or {"d0": 1}
        for run, skill in ((base, 0.4), (candidate, 0.8)):
            scores = skill * grades + generator.normal(size=20)
            run[f"q{query}"] = dict(zip(documents, scores.tolist(), strict=True))
    return judged, base, candidate


@pytest.mark.slow  # ranx compiles its metrics the first time
def test_paired_p_values_and_means_equal_ranx(runs):
    ranx = pytest.importorskip("ranx")
    qrels = ranx.Qrels(runs[0])
    base, candidate = ranx.Run(runs[1], name="base"), ranx.Run(runs[2], name="candidate")
    report = ranx.compare(qrels, [base, candidate], METRICS, stat_test="student")
    theirs = report.comparisons[frozenset(["base", "candidate"])]
    for metric in METRICS:
        before, after = base.scores[metric], candidate.scores[metric]
        assert len(before) == QUERIES
        ours = compare_paired(
            list(before.values()),
            [after[query] for query in before],
            ComparisonOptions(interval="student"),
        )
        assert ours.p_value == pytest.approx(theirs[metric]["p_value"], rel=1e-9)
        assert ours.base_mean == pytest.approx(report.results["base"][metric], rel=1e-9)
        assert ours.candidate_mean == pytest.approx(report.results["candidate"][metric], rel=1e-9)
