"""Documents that the agent opened and cited, and calls that brought nothing (SPEC 11)."""

import json
from pathlib import Path
from random import Random

import pytest

from goodgain.transforms.core.metrics.calls import CALL_METRICS
from goodgain.transforms.core.metrics.usage import USAGE
from tests.adversarial import conversation_records
from tests.core.direct import score, score_one
from tests.reference.usage import use

COLUMNS = [metric.name for metric in USAGE.at_n]
COUNTS = [metric.name for metric in CALL_METRICS]


def doc(name, gain=None, **more):
    return {"url": f"https://ex.org/{name}", "gain": gain, **more}


def columns(records, names=COLUMNS, **options):
    row = score_one(records, usage=True, **options).conversation
    return {name: row[name] for name in names}


def records_on_the_page():
    """The records of the worked example in docs/from-found-to-used.md."""
    page = Path("docs/from-found-to-used.md").read_text("utf-8")
    return json.loads(page.split("```json\n")[1].split("```")[0])


EXAMPLE = records_on_the_page()


def test_the_worked_example():
    assert columns(EXAMPLE) == {
        "opens": 2,
        "opened": 3,  # a, c, x
        "opened_good": 2,  # a, x
        "opened_unsurfaced": 1,  # x
        "open_precision": pytest.approx(2 / 3),
        "open_recall": pytest.approx(1 / 3),  # a of a, b, d
        "CG_opened": 3,  # a
        "cites": 1,
        "cited": 4,  # a, d, x, y
        "cited_good": 3,  # a, d, x
        "cited_unsurfaced": 2,  # x, y
        "cite_precision": 3 / 4,
        "cite_recall": pytest.approx(2 / 3),  # a, d
        "CG_cited": 7,
        "cited_unopened": 2,  # d, y
    }
    assert columns(EXAMPLE, COUNTS) == {"calls_empty": 1, "calls_failed": 1, "queries_repeated": 1}


def test_without_such_records_counts_are_0_and_shares_null():
    found = columns(EXAMPLE[:3])
    assert {name: found[name] for name in found if found[name] != 0} == {
        "open_precision": None,
        "cite_precision": None,
        "cited_unopened": None,
    }
    assert columns(EXAMPLE[3:])["open_recall"] is None  # nothing was found
    assert columns([{"results": [doc("a", 1)]}, EXAMPLE[3]])["open_recall"] is None  # nothing good


def test_columns_are_there_only_when_they_are_asked_for():
    row = score_one(EXAMPLE).conversation
    assert not {*COLUMNS} & {*row.metrics}
    assert {*COUNTS} <= {*row.metrics}


def test_openings_count_wherever_they_stand_in_the_turn():
    early = [{**record, "iteration": 1, "call": 7} for record in EXAMPLE[3:4]]
    assert columns([*early, *EXAMPLE[:3]])["opened"] == 2
    later = [{"turn": 2, "results": [doc("q", 3)]}]
    assert columns([*EXAMPLE, *later])["opens"] == 0


def test_a_result_belongs_to_the_first_document_one_of_whose_occurrences_it_verifies():
    """The second occurrence of the first document comes after the second document."""
    one = {"ids": {"doc_id": "1"}, "gain": 4}
    two = {"url": "https://ex.org/two", "gain": 2}
    again = {"ids": {"doc_id": "1"}, "title": "x", "url": "https://ex.org/three"}
    opened = {"url": "https://ex.org/three"}
    records = [{"results": [one, two, again]}, {"action": "open", "results": [opened]}]
    assert columns(records)["CG_opened"] == 4


def test_a_document_that_search_did_not_find_has_its_first_label():
    records = [
        {"results": [doc("a", 3)]},
        {"action": "open", "results": [doc("x")]},
        {"action": "cite", "results": [doc("x", 3), doc("x", 0)]},
    ]
    found = columns(records)
    assert (found["opened_good"], found["cited_good"], found["cited_unopened"]) == (1, 1, 0)


def test_failed_calls_may_be_left_out():
    failed = {"iteration": 5, "error": "timeout", "results": [doc("z", 4)], "query": "z"}
    row = score_one([*EXAMPLE, failed], without_failed=True).conversation
    assert row == score_one([*EXAMPLE[:2], *EXAMPLE[3:]]).conversation
    counts = score_one([*EXAMPLE, failed], without_failed=True).counts
    assert counts["records.scored"] == len(EXAMPLE) + 1


def test_blank_errors_are_none():
    assert columns([{"error": " "}, {"call": 1, "error": ""}], COUNTS)["calls_failed"] == 0


def mix(random):
    """A conversation in which documents are opened and cited, and queries repeat."""
    records = conversation_records(random)
    for record in records:
        record["conversation_id"] = "c"
        record["action"] = random.choice(["search", "search", "open", "cite"])
        record["query"] = random.choice(["a b", "A, b!", "«b»", "?", None])
        record["error"] = random.choice([None, None, " ", "timeout"])
    return records


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_any_turn_equals_the_reference(seed):
    random = Random(seed)
    for _ in range(150):
        records = mix(random)
        row = score(records, usage=True, write_duplicates=False)["c"].conversation
        expected = use(records)
        if row.N == 0:
            assert row["opens"] == expected["opens"]
            assert row["cited"] == expected["cited"]
            continue
        assert {name: row[name] for name in expected} == pytest.approx(expected)
