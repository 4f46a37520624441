"""Contradicted ids, and good documents beyond the cutoff, in one turn (SPEC 10)."""

from random import Random

import pytest

from goodgain.transforms.core.scoring.id_checks import least_examples
from tests.core.direct import score, score_one


def page(doc_id, url, title, **more):
    return {
        "ids": {"doc_id": doc_id},
        "url": url and f"https://e.org/{url}",
        "title": title,
        **more,
    }


def turn(*pages):
    return [
        {"conversation_id": "c", "iteration": i, "results": [page]}
        for i, page in enumerate(pages, 1)
    ]


@pytest.mark.parametrize(
    ("again", "compared", "contradicted"),
    [
        (page("1", "b", "t2"), 1, 1),
        (page("1", "b", "t1"), 1, 0),
        (page("1", "a", "t2"), 1, 0),
        (page("1", "a?x=1", "t2"), 1, 0),
        (page("1", None, "t2"), 0, 0),
        (page("1", "b", None), 0, 0),
        (page("2", "a", "t1"), 0, 0),
    ],
)
def test_what_counts_as_contradicted(again, compared, contradicted):
    found = score_one(turn(page("1", "a", "t1"), again))
    assert found.counts.get("data.ids_compared", 0) == compared
    assert found.counts.get("data.ids_contradicted", 0) == contradicted
    assert len(found.contradicted_ids) == contradicted


def test_a_repeat_is_compared_with_the_occurrence_that_verified_it():
    found = score_one(turn(page("1", "a", "t"), page("1", "b", "u"), page("1", "b", "u")))
    assert (found.counts["data.ids_compared"], found.counts["data.ids_contradicted"]) == (2, 2)
    assert (
        str(found.contradicted_ids[1]) == "c: result 1 of iteration 3 and result 1 of iteration 1"
    )
    assert found.contradicted_ids[1].name == "doc_id"


def test_examples_do_not_depend_on_their_order():
    random = Random(5)
    records = [
        {**record, "conversation_id": f"c{number}"}
        for number in range(20)
        for record in turn(*(page(*(random.choice("ab") for _ in range(3))) for _ in range(5)))
    ]
    found = [id_ for each in score(records).values() for id_ in each.contradicted_ids]
    assert len({example.conversation_id for example in found}) > 3
    assert least_examples(found) == least_examples(found[::-1]) == sorted(found)[:3]


def rank(hits, first):
    results = [page(str(at), str(at), str(at), gain=3 * hit) for at, hit in enumerate(hits)]
    return [
        {"conversation_id": "c", "iteration": 1, "results": results[:first]},
        {"conversation_id": "c", "iteration": 2, "results": results[first:]},
    ]


@pytest.mark.parametrize(
    ("hits", "first", "later", "beyond"),
    [
        ([1] * 8, 2, 6, 3),
        ([1] * 8, 7, 1, 1),
        ([1, 1, 0, 0, 1, 0, 1, 0], 2, 2, 1),
        ([1] * 3, 2, 1, 0),
        ([1] * 3 + [0] * 4, 3, 0, 0),
    ],
)
def test_good_documents_of_later_iterations_beyond_the_cutoff(hits, first, later, beyond):
    found = score_one(rank(hits, first), metrics=("ndcg@5", "precision@3", "map"))
    assert found.counts.get("data.good_later", 0) == later
    assert found.counts.get("data.good_beyond_cutoff", 0) == beyond


def test_nothing_is_beyond_metrics_of_the_whole_list():
    found = score_one(rank([1] * 30, 2), metrics=("ndcg", "map"))
    assert "data.good_later" not in found.counts
