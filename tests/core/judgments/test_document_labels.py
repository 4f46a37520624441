"""Which judgment labels which document (SPEC 8): METRIC_TRAPS 24 and 25, and similar cases."""

import pytest

from tests.core.direct import score_one
from tests.core.judgments.judged import NAMED, score_judged, values

RANKING = ("recall", "map", "ndcg", "judged")


def result(file, *names, **more):
    """A distinct document, identified by its file_id; it is judged by `names`."""
    named = {"doc_id": list(names)} if names else {}
    return {"entity_type": "File", "ids": {"file_id": file, **named}, **more}


def score(*results, judged, keys=NAMED, **options):
    qrels = {("c", name): gain for name, gain in judged.items()}
    options.setdefault("metrics", RANKING)
    return score_judged([{"results": list(results)}], qrels, keys, **options)


def test_24_a_judgment_counts_once():
    found = score(result("A", "d1"), result("B", "d1"), judged={"d1": 2, "d2": 0})
    expected = {"recall": 1.0, "map": 1.0, "ndcg": 1.0, "judged": 0.5}
    assert values(found, RANKING) == expected
    row = found.conversation
    assert (row.UR, row.CG, row.GR, row.unlabelled) == (2, 2, 1, 1)
    assert row.judgments_met_again == found.counts["qrels.judgments_met_again"] == 1


def test_25_a_name_that_only_a_copy_has_is_found():
    found = score(result("A"), result("A", "d1"), judged={"d1": 2})
    row = found.conversation
    assert (row.UR, row.CG, row.unlabelled, row.judgments_met_again) == (1, 2, 0, 0)
    assert values(found, RANKING) == dict.fromkeys(RANKING, 1.0)
    assert found.iterations[0].G_i == 2


def test_a_document_takes_only_the_name_that_labels_it():
    found = score(result("A", "d1", "d2"), result("B", "d2"), judged={"d1": 2, "d2": 3})
    assert (found.conversation.CG, found.conversation.judgments_met_again) == (5, 0)


def test_the_first_unused_judgment_among_several_names_labels():
    found = score(
        result("A", "d1"), result("B", "u", "d1", "d2", "d3"), judged={"d1": 2, "d2": 4, "d3": 3}
    )
    assert (found.conversation.CG, found.conversation.judgments_met_again) == (6, 0)


def test_earlier_documents_take_judgments_first_even_by_names_of_later_copies():
    """B is named d1 before the copy of A is, but A was retrieved first."""
    results = [result("A"), result("B", "d1"), result("A", "d1")]
    found = score(*results, judged={"d1": 2}, metrics=("mrr",))
    row = found.conversation
    assert (row.CG, row.judgments_met_again, row.unlabelled) == (2, 1, 1)
    assert values(found, ("mrr",)) == {"mrr": 1.0}


def test_the_label_of_a_copy_adds_no_gain():
    found = score(result("A", "d1"), result("A", "d2"), judged={"d1": 1, "d2": 4})
    row = found.conversation
    assert (row.CG, row.label_conflicts, row.judgments_met_again) == (0, 1, 0)
    assert values(found, RANKING)["recall"] == 0.0


def test_a_negative_label_is_ignored():
    found = score(result("A", "d1"), result("B", "d1"), judged={"d1": -1})
    assert (found.conversation.unlabelled, found.conversation.judgments_met_again) == (2, 0)


def test_the_generic_id_names_a_result_without_the_named_id():
    """Also beside a definitive id, although SPEC 4.2 then excludes the generic id from keys."""
    results = [result("A", id=" g1 "), result("B", "d1", id="g2"), result("C", id="g3")]
    found = score(*results, judged={"g1": 3, "g2": 4, "d1": 2})
    assert (found.conversation.CG, found.conversation.unlabelled) == (5, 1)


@pytest.mark.parametrize("written", ["Ann@Example.com", "0A1B2C3D-0000-4000-8000-00000000000F"])
def test_names_are_trimmed_but_case_sensitive(written):
    assert score(result("A", f" {written} "), judged={written: 2}).conversation.CG == 2
    assert score(result("A", written), judged={written.lower(): 2}).conversation.CG == 0


def test_labels_of_the_trace_do_not_count():
    found = score(result("A", gain=4), result("B", "d1", gain=4), judged={"d1": 0})
    assert (found.conversation.CG, found.conversation.unlabelled) == (0, 1)


def test_duplicates_show_their_own_label_beside_the_one_that_counts():
    found = score(
        result("A"), result("A", "d2"), result("A", "d1"), judged={"d1": 1, "d2": 3},
        write_duplicates=True,
    )  # fmt: skip
    assert [(row.gain, row.first_gain) for row in found.duplicates] == [(3, 3), (1, 3)]


def test_call_lists_have_the_labels_of_their_documents():
    qrels = {("c", "d1"): 2}
    records = [
        {"iteration": 1, "results": [result("A"), result("B", "d1")]},
        {"iteration": 2, "results": [result("B"), result("A", "d1")]},
    ]
    found = score_judged(records, qrels, NAMED, metrics=("hits", "recall"), per_call=True)
    assert [row.values for row in found.calls] == [(1, 1.0), (1, 1.0)]


def test_the_best_case_keeps_labels_of_qrels():
    found = score(result("A"), result("A", "d1"), result("B"), judged={"d1": 0}, bounds=True)
    assert found.best is not None
    at_cg = list(found.conversation.metrics).index("CG")
    assert (found.conversation.CG, found.best.at_n[at_cg]) == (0, 4)


def test_without_external_judgments_none_is_counted_as_met_again():
    row = score_one([{"results": [result("A", "d1", gain=2), result("B", "d1", gain=2)]}])
    assert "judgments_met_again" not in row.conversation.topic
    assert row.conversation.CG == 4
