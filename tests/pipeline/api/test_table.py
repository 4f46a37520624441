"""Tables of a run as rows, as data frames and as text."""

import sys
from datetime import UTC, datetime

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.headline import headline
from tests.pipeline.runs import write_jsonl

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
    *names, dropped = text.splitlines()[0].split()
    assert names == run.conversations.columns[: len(names)]
    assert dropped == "…"
    assert text.splitlines()[2].endswith(" …")
    assert "market=<de>" in text
    assert "[conversations: 1 row," in text
    assert max(map(len, text.splitlines())) <= 120
    html = run.conversations._repr_html_()
    assert "market=&lt;de&gt;" in html
    assert ">…</th></tr></thead>" in html
    assert repr(run.duplicates).endswith("[duplicates: 0 rows, 16 columns]")


def test_text_of_means_begins_with_the_headline_and_what_was_asked_for():
    calls = [
        {**CALL, "conversation_id": f"c-{n}", "results": [], "costs": {"tokens": 5}}
        for n in range(736)
    ]
    means = gg.evaluate(
        [{**CALL, "conversation_id": "x", "costs": {"tokens": 5}}, *calls],
        metrics=["ndcg@10", "mrr"],
        slices="market",
    ).means
    lines = repr(means).splitlines()
    columns = ["slice", "metric", "i", "population", "n", "mean", "ci_low", "ci_high"]
    assert lines[0].split()[: len(columns)] == columns
    first = [line.split()[1] for line in lines[2:8]]
    assert first == [*headline("card"), "mrr", "ndcg@10"]
    assert all(line.split()[:4:2] == ["all", "-"] for line in lines[2:12])
    assert set(lines[12].split()) == {"…"}
    sre = means.where(metric="SRE", i=None, slice={}, population="all")
    assert sre[0]["mean"] == pytest.approx(1 / 737)
    assert "0.00136 " in repr(sre)
    by_i = repr(means.where(metric="CG_at_i", slice={})).splitlines()
    assert [line.split()[2] for line in by_i[2:5]] == ["1", "2", "3"]


def test_text_of_a_run_has_the_words_units_and_bounds_of_the_command(tmp_path, capsys):
    calls = [
        {**CALL, "results": [{"id": "a", "gain": 3}, {"id": "b", "gain": 0}]},
        {**CALL, "conversation_id": "c-2", "results": [{"id": "a", "gain": 1}]},
    ]
    path = write_jsonl(tmp_path / "traces.jsonl", calls)
    text = " ".join(repr(gg.evaluate(path, metrics=["mrr"])).split())
    assert main(["run", "--input", path, "--output", str(tmp_path / "out"), "--metrics=mrr"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Run of 2 conversations, 2 in the means" in text
    for name, numbers in (
        ("Gain (CG)", "1.500 0..20.56 1.500 2"),
        ("Good and new results (SRE)", "25.0 % 0..100 % 25.0 % 2"),
        ("Repeated results (SRR)", "0 % - 0 % 2"),
    ):
        assert f"{name} {numbers}" in text
        assert f"{name} {numbers}" in printed
    assert f"{metric_by_name('mrr').label} 0.500" in text
    assert "ndcg" not in repr(gg.evaluate(path))


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named(run, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(gg.UsageError, match=f"{package} is not installed; .*pip install {package}"):
        getattr(run.means, f"to_{package}")()
