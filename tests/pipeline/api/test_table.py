"""Tables of a run as rows, as data frames and as text."""

from datetime import UTC, datetime

import pytest

import goodgain as gg

CALL = {
    "conversation_id": "c-1",
    "iteration": 1,
    "timestamp": "2025-03-03T10:00:00Z",
    "attributes": {"market": "<de>"},
    "results": [{"id": "a", "gain": 3}],
}


@pytest.fixture(scope="module")
def run():
    return gg.evaluate([CALL], slices="market")


def test_rows_are_dicts_with_times(run):
    row = run.conversations[0]
    assert row["first_timestamp"] == datetime(2025, 3, 3, 10, tzinfo=UTC)
    assert row["attributes"] == {"market": "<de>"}
    assert list(run.conversations) == run.conversations.to_dicts() == [row]
    assert run.conversations[-1] == row
    assert len(run.conversations) == 1
    with pytest.raises(IndexError):
        run.conversations[1]


def test_where_selects_rows_by_their_values(run):
    (row,) = run.means.where(slice={"market": "<de>"}, metric="CG", i=None)
    assert row["mean"] == 3
    assert len(run.conversations.where(first_timestamp=datetime(2025, 3, 3, 10, tzinfo=UTC))) == 1
    with pytest.raises(KeyError, match="'metrc'"):
        run.means.where(metrc="CG")


def test_converts_to_pandas(run):
    frame = run.means.to_pandas()
    assert list(frame.columns) == run.means.columns
    assert frame[(frame.metric == "CG") & frame.i.isna()]["mean"].tolist() == [3, 3]
    assert str(run.conversations.to_pandas().dtypes["first_timestamp"]).endswith("UTC]")
    assert run.duplicates.to_pandas().empty


def test_converts_to_polars_and_arrow(run):
    assert run.means.to_polars().shape == (len(run.means), len(run.means.columns))
    assert run.conversations.to_arrow().to_pylist(maps_as_pydicts="strict") == list(
        run.conversations
    )
    assert run.duplicates.to_arrow().num_rows == 0


def test_text_and_html_show_the_first_columns(run):
    text = repr(run.conversations)
    assert (
        text.splitlines()[0].split()
        == run.conversations.columns[: len(text.split("\n")[0].split())]
    )
    assert "market=<de>" in text
    assert "[conversations: 1 row," in text
    assert max(map(len, text.splitlines())) <= 120
    assert "market=&lt;de&gt;" in run.conversations._repr_html_()
    assert "Run of 1 conversation, 1 in the means" in repr(run)
    assert "CG   3.0000" in repr(run)
    assert repr(run.duplicates).endswith("[duplicates: 0 rows, 16 columns]")
