"""Warnings about what identifies documents, and where they stand (SPEC 10)."""

import pytest

from goodgain.transforms.core.scoring.data_counts import (
    GOOD_BEYOND,
    GOOD_LATER,
    IDS_COMPARED,
    IDS_CONTRADICTED,
)
from goodgain.transforms.core.scoring.id_checks import ContradictedId, PlaceInTurn
from goodgain.transforms.core.warnings.warning import allowed_codes, failing_warnings
from tests.core.warnings.given_counts import NOTHING_ALLOWED, codes, warn


@pytest.mark.parametrize(
    ("compared", "contradicted", "warns", "fails"),
    [
        (19, 19, False, False),
        (20, 2, False, False),
        (20, 3, True, False),
        (100, 49, True, False),
        (100, 50, True, True),
        (20, 20, True, True),
    ],
)
def test_contradicted_ids_warn_above_10_percent_and_fail_from_50(
    compared, contradicted, warns, fails
):
    found = warn({IDS_COMPARED: compared, IDS_CONTRADICTED: contradicted})
    assert [warning.code for warning in found] == ["ids_contradicted"] * warns
    assert len(failing_warnings(found, NOTHING_ALLOWED)) == fails
    accepted = allowed_codes(unlabelled=False, no_good=False, contradicted_ids=True)
    assert not failing_warnings(found, accepted)


def test_the_warning_names_the_id_and_examples_and_leaves_the_id_out():
    examples = [
        ContradictedId("c", PlaceInTurn(3, 1, 2), PlaceInTurn(1, 0, 5), "file_id"),
        ContradictedId("d", PlaceInTurn(2, 0, 1), PlaceInTurn(1, 0, 1), "doc_id"),
    ]
    counts = {IDS_COMPARED: 40, IDS_CONTRADICTED: 30}
    (one,) = warn(counts, contradicted_ids=examples)
    assert (one.count, one.share) == (30, 0.75)
    assert "ids.doc_id and ids.file_id" in one.message
    assert "c: result 2 of search 2 of iteration 3 and result 5 of iteration 1" in one.message
    assert "--map ids.doc_id=,ids.file_id=; --allow-contradicted-ids" in one.remedy
    (of_window,) = warn(counts, records=None)
    assert "--allow" not in of_window.remedy


@pytest.mark.parametrize(
    ("later", "beyond", "warns"),
    [(19, 19, False), (20, 10, False), (20, 11, True), (0, 0, False)],
)
def test_good_documents_beyond_the_cutoff_warn_above_half(later, beyond, warns):
    counts = {GOOD_LATER: later, GOOD_BEYOND: beyond}
    assert codes(counts, cutoff=10) == ["beyond_cutoff"] * warns


@pytest.mark.parametrize(
    ("per_call", "advice"),
    [(False, "rank each search call with --per-call"), (True, "the dataset `calls`, which ranks")],
)
def test_advice_on_the_cutoff_is_not_what_was_given(per_call, advice):
    (beyond,) = warn({GOOD_LATER: 20, GOOD_BEYOND: 20}, cutoff=10, per_call=per_call)
    assert advice in beyond.remedy
    assert ("--per-call" in beyond.remedy) != per_call
