"""What results look like in a notebook, and as text."""

import pytest
import rich.console

import goodgain as gg


def traces(gain):
    return [
        {
            "conversation_id": f"c-{at}",
            "iteration": 1,
            "query": "<b>q</b>",
            "results": [{"id": "a", "title": "<i>t</i>", "gain": gain + at % 2}],
        }
        for at in range(20)
    ]


@pytest.fixture
def in_notebook(monkeypatch):
    """Where rich would display what it prints, instead of writing it to a file."""
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)


def test_an_explanation_is_text_and_a_table(in_notebook, capsys):
    found = gg.evaluate(traces(2)).explain("c-1")
    assert found.splitlines()[0] == "Conversation c-1"
    assert repr(found) == str(found)
    assert "new, good" in found
    assert capsys.readouterr().out == ""
    html = found._repr_html_()
    assert "&lt;i&gt;t&lt;/i&gt;" in html
    assert "<i>" not in html
    assert "monospace" in html


def test_a_comparison_shows_its_answer_and_its_table(in_notebook):
    found = gg.compare(gg.evaluate(traces(2)), gg.evaluate(traces(3)))
    lines = repr(found).splitlines()
    assert lines[0] == found.summary
    headings = ["metric", "base", "candidate", "difference", "interval", "verdict"]
    assert lines[2].split() == headings
    assert lines[4].split() == ["Gain", "(CG)", "2.500", "3.500", "+1.000", "-", "better"]
    html = found._repr_html_()
    assert all(f">{heading}</th>" in html for heading in headings)
    assert ">+1.000</td>" in html


def test_a_run_shows_its_means_as_a_table(in_notebook):
    run = gg.evaluate(traces(2))
    assert "Gain (CG)" in repr(run)
    assert ">2.500</td>" in run._repr_html_()


def test_a_later_run_that_declares_an_outcome_otherwise_changes_nothing(tmp_path):
    rated = [{**call, "outcomes": {"rating": at % 10 / 10}} for at, call in enumerate(traces(2))]
    run = gg.evaluate(rated, outcome=["rating>=0.7"])
    name = run.conversations[0]["conversation_id"]
    shown, mean, explained = repr(run), run["outcome.rating"], str(run.explain(name))
    assert "Outcome rating of 0.7 or more (outcome.rating)" in explained
    assert "Outcome rating of 0.7 or more (outcome.rating) 30.0 %" in " ".join(shown.split())
    gg.evaluate(rated, outcome=["rating:lower"])
    assert "outcome.rating 30.0 % (" in repr(mean)
    assert repr(run) == shown
    gg.evaluate(rated)
    assert repr(run["outcome.rating"]) == repr(mean)
    gg.evaluate(rated)
    assert str(run.explain(name)) == explained
    gg.evaluate(rated)
    run.report(tmp_path / "report.html")
    gg.evaluate(rated)
    run.save(tmp_path / "saved")
    for page in ("report.html", "saved/report.html"):
        assert "Outcome rating of 0.7 or more" in (tmp_path / page).read_text()


def test_a_metric_that_is_declared_anew_is_another_one_for_later_runs_only():
    def declare(unit):
        @gg.metric(unit=unit, words=f"Half a {unit}")
        def always_half(prefix):
            return 0.5

        return always_half

    share, plain = (gg.evaluate(traces(2), metrics=[declare(unit)]) for unit in ("share", "result"))
    for _ in range(2):
        assert "Half a share (always_half) 50.0 %" in " ".join(repr(share).split())
        assert "Half a result (always_half) 0.500" in " ".join(repr(plain).split())
    assert repr(share["always_half"]).startswith("always_half 50.0 %")


def test_a_mean_prints_with_its_interval_and_n(in_notebook):
    mean = gg.evaluate(traces(2))["CG"]
    text = f"CG 2.500 (95 %: {mean.low:.3f}..{mean.high:.3f}, n = 20)"
    assert repr(mean) == str(mean) == text
    assert text in mean._repr_html_()
    assert "monospace" in mean._repr_html_()
    assert (mean.mean, mean.n, mean.p50) == (2.5, 20, 2.5)


def test_a_mean_without_a_value_prints_a_dash(in_notebook):
    run = gg.evaluate([{"conversation_id": "c", "iteration": 1, "results": [{"gain": 0}]}])
    assert repr(run["iterations_for_all_good_results"]) == (
        "iterations_for_all_good_results - (95 %: -, n = 0)"
    )
