"""The warnings about given counts, for tests."""

from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from goodgain.transforms.core.warnings.check_inputs import CheckInputs, Relevance
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.field_names import names_in
from goodgain.transforms.core.warnings.warning import allowed_codes
from tests.core.direct import shipped_rules

NOTHING_ALLOWED = allowed_codes(unlabelled=False, no_good=False, contradicted_ids=False)
RANKED = Relevance.of(3, parse_ranking_metrics(["ndcg@10", "precision@5", "rbp.8", "judged@5"]))


def warn(counts, seen=(), **more):
    more = {"good_gain_threshold": 2, "rules": shipped_rules(), "records": 1, **more}
    return warnings_of(CheckInputs(counts, seen=names_in(seen), **more))


def codes(counts, seen=(), **more):
    return [warning.code for warning in warn(counts, seen, **more)]
