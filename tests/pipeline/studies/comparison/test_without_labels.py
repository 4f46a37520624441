"""A comparison shows no means of metrics that need labels if an arm has none."""

import json
import re

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from tests.pipeline.studies.comparison.command import compare, row
from tests.pipeline.studies.comparison.traces import conversation, output_of

OPTIONS = {"allow_unlabelled": True, "metrics": ["ndcg@10"], "slice": ["market"], "max_i": 2}


def arm(folder, labelled):
    """Forty conversations; `labelled` says whether those of a market have labels."""
    records = []
    for number in range(40):
        market = "de" if number % 2 else "fr"
        gains = [3, 1 + number // 2 % 4, 0] if labelled(market) else [None] * 3
        costs = {"tokens": 100 + number}
        calls = conversation(f"c{number:02}", [gains, gains], market=market)
        records.append([{**call, "costs": costs} for call in calls])
    return output_of(folder, records, **OPTIONS)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {
        "labelled": arm(folder / "labelled", lambda _: True),
        "none": arm(folder / "none", lambda _: False),
        "de": arm(folder / "de", lambda market: market == "de"),
    }


def table(text, title):
    """The first table after a title, as cells by metric."""
    lines = text.split(title)[1].strip().splitlines()
    start = next(at for at, line in enumerate(lines) if set(line) == {"-"})
    end = lines.index("", start)
    rows = (re.split(" {2,}", line.rstrip()) for line in lines[start + 1 : end] if line[0] != " ")
    return {name: cells for name, *cells in rows}


def test_the_table_shows_a_dash_and_the_dataset_keeps_its_values(runs, capsys):
    both = (runs["labelled"], runs["none"])
    assert main(["compare", *both]) == 0
    shown = table(capsys.readouterr().out, "All conversations, at N")
    assert shown["Gain (CG)"][:5] == ["10.50", "-", "-", "-", "-"]
    assert shown["Repeated results (SRR)"][:3] == ["0 %", "0 %", "0 pp"]
    found = compare(capsys, *both)
    assert found["without_labels"] == [{"slice": {}, "arms": ["candidate"]}]
    gain = row(found, "CG")
    assert (gain["base_mean"], gain["candidate_mean"], gain["difference"]) == (10.5, 0.0, -10.5)
    assert gain["verdict"] == "not comparable"


def test_by_iteration_too(runs, capsys):
    assert main(["compare", runs["none"], runs["labelled"], "--at", "2"]) == 0
    out = capsys.readouterr().out
    for title in ("that reached it in both arms", "with nothing added after they stopped"):
        shown = table(out, title)
        assert all(cells[0] == "-" for name, cells in shown.items() if "ain" in name)
    assert any("ain" in name for name in shown)


def test_only_the_slices_without_labels_show_none(runs, capsys):
    words = ["compare", runs["labelled"], runs["de"], "--slice", "market"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert table(out, "market = fr, at N")["Gain (CG)"][:3] == ["10.50", "-", "-"]
    assert table(out, "market = de, at N")["Gain (CG)"][:3] == ["10.50", "10.50", "0"]
    assert table(out, "All conversations, at N")["Gain (CG)"][:3] == ["10.50", "5.250", "-5.250"]
    found = compare(capsys, *words[1:])
    assert found["without_labels"] == [{"slice": {"market": "fr"}, "arms": ["candidate"]}]


def test_nothing_is_said_to_be_unchanged_if_no_arm_has_labels(runs, capsys):
    found = gg.compare(runs["none"], runs["none"])
    reason = "no result has a label"
    assert found.summary.startswith(f"The arms cannot be compared by Gain (CG): {reason}; ")
    assert main(["compare", runs["none"], runs["none"]]) == 0
    shown = table(capsys.readouterr().out, "All conversations, at N")
    assert shown["Gain (CG)"][:6] == ["-"] * 5 + ["not comparable"]
    gain = row(compare(capsys, runs["none"], runs["none"]), "CG")
    assert (gain["verdict"], gain["reason"]) == ("not comparable", reason)


def test_the_report_shows_none(runs, tmp_path):
    words = ["compare", runs["labelled"], runs["none"], "--output", str(tmp_path / "out")]
    assert main([*words, "--slice", "market"]) == 0
    page = (tmp_path / "out" / "report.html").read_text()
    data = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.S)[1])
    for slice_ in data["slices"]:
        *numbers, texts = slice_["end"]["CG"]
        drawn = dict(zip(data["parts"], numbers, strict=True))
        assert drawn["base_mean"] == 10.5
        names = ("difference", "ci_low", "good")
        assert {name: drawn[name] for name in names} == dict.fromkeys(names)
        told = dict(zip(data["texts"], texts, strict=True))
        assert (told["base_mean"], told["n"]) == ("10.50", "40" if not slice_["names"] else "20")
        names = ("candidate_mean", "difference", "interval", "p_value", "effect_size", "gsb")
        assert {name: told[name] for name in names} == dict.fromkeys(names, "-")
    assert all(arms["candidate"]["end"]["CG"][0] is None for arms in data["arms"])
    assert all(arms["base"]["end"]["CG"][0] == 10.5 for arms in data["arms"])
    assert main(["report", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "report.html").read_text() == page
