"""A change of outputs is named by table, metric and column, and nothing else is."""

from tests.golden.differences import differences
from tests.golden.digests import as_text, digests, from_text

ROWS = [{"id": "a", "N": 1, "x": None}, {"id": "b", "N": 2, "x": None}]
MEANS = [
    {"metric": metric, "i": i, "mean": mean}
    for metric, mean in (("CG", 0.5), ("SRE", 1.0))
    for i in (None, 1)
]
DOCUMENT = {"passed": True, "results": [{"gain": 1}, {"gain": 2}], "rows": MEANS}
OUTPUTS = {"rows": ROWS, "means": MEANS, "document": DOCUMENT}


def changes(**outputs):
    """The differences of some changed outputs from OUTPUTS, whose digests were kept as text."""
    return differences(from_text(as_text(digests(OUTPUTS))), digests({**OUTPUTS, **outputs}))


def test_equal_outputs_have_no_differences():
    assert changes() == []


def test_whole_numbers_may_be_floats():
    assert changes(rows=[{**row, "N": float(row["N"])} for row in ROWS]) == []


def test_a_new_column_changes_no_other():
    assert changes(rows=[{**row, "y": 1} for row in ROWS]) == ["rows: column y added"]
    assert changes(means=[{**row, "n": 1} for row in MEANS]) == [
        "means: column n added of metrics CG, SRE"
    ]


def test_a_new_metric_changes_no_other():
    assert changes(means=[*MEANS, {"metric": "RG", "i": None, "mean": 1}]) == [
        "means: 5 rows, were 4",
        "means: metric RG added",
    ]


def test_changed_values_are_named_by_column():
    assert changes(rows=[{**ROWS[0], "N": 3}, ROWS[1]]) == ["rows: column N changed"]
    assert changes(means=[{**MEANS[0], "mean": 0.6}, *MEANS[1:]]) == [
        "means: column mean changed of metric CG"
    ]


def test_the_order_of_rows_counts():
    assert changes(rows=ROWS[::-1]) == ["rows: columns id, N changed"]


def test_a_document_changes_by_path():
    changed = {**DOCUMENT, "results": [{"gain": 1}, {"gain": 3}], "rows": MEANS[:2]}
    assert changes(document=changed) == [
        "document: column results[].gain changed",
        "document rows: 2 rows, were 4",
        "document rows: metric SRE gone",
    ]


def test_tables_come_and_go():
    before, now = digests({"a": ROWS}), digests({"b": ROWS})
    assert differences(before, now) == ["a: the table is gone", "b: a new table"]
