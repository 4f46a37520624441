"""The number of proofs that share the 5 % error of a gate."""

import pytest

from goodgain.pipeline.studies.gate.bounds import GateEstimate, count_proofs
from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.transforms.core.statistics import Studentized

ESTIMATE = GateEstimate(5.0, Studentized(5.0, 1.0, 1e9), scale=5.0)


def rule(proof="of_compliance", **more):
    given = {"metric": "CG", "at_least": 0, "proof": proof, **more}
    return Rule.model_validate({name: value for name, value in given.items() if value is not None})


def confidence(counted, rule):
    """The confidence that a proof of the rule needs, in percent."""
    return float(counted.check(rule, ESTIMATE, 0.0, "at least").reason.split(" % ")[0])


def test_each_slice_of_a_rule_counts_as_a_proof():
    """Each of ten slices needs 100 % - 5 % / 10, the one proof over all conversations 95 %."""
    whole, sliced = rule(), rule(slice=["market"])
    counted = count_proofs([(whole, 1), (sliced, 10)])
    assert (counted.whole, counted.slices) == (1, 10)
    assert confidence(counted, whole) == pytest.approx(95)
    assert confidence(counted, sliced) == pytest.approx(99.5)


def test_proofs_over_all_conversations_and_in_slices_are_counted_separately():
    whole, sliced = rule(), rule(slice={"market": "de"})
    counted = count_proofs([(whole, 1)] * 5 + [(sliced, 1)])
    assert confidence(counted, whole) == pytest.approx(99)
    assert confidence(counted, sliced) == pytest.approx(95)


@pytest.mark.parametrize("proof", ["of_compliance", "of_breach"])
def test_each_bound_of_a_rule_counts_as_a_proof(proof):
    both = rule(proof, at_most=9)
    counted = count_proofs([(both, 1)])
    assert counted.whole == 2
    assert confidence(counted, both) == pytest.approx(97.5)


def test_a_rule_with_its_own_confidence_divides_that_error():
    sure = rule(confidence="99 %")
    assert confidence(count_proofs([(sure, 1), (rule(), 1)]), sure) == pytest.approx(99.5)
