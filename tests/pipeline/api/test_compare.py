"""`goodgain.compare` gives the answer and the rows of the command."""

import json

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main

pytestmark = pytest.mark.slow


def traces(more):
    return [
        {
            "conversation_id": f"c-{n}",
            "iteration": 1,
            "attributes": {"market": "de" if n % 3 else "fr"},
            "results": [{"id": f"{n}-{k}", "gain": (n + k + more) % 4 + 1} for k in range(3)],
        }
        for n in range(40)
    ]


@pytest.fixture(scope="module")
def arms():
    return gg.evaluate(traces(0)), gg.evaluate(traces(1))


def test_runs_in_memory_folders_and_the_command_give_the_same(arms, tmp_path, capsys):
    for name, arm in zip(("base", "candidate"), arms, strict=True):
        arm.save(tmp_path / name)
    in_memory = gg.compare(*arms, slices=["market"])
    of_folders = gg.compare(tmp_path / "base", str(tmp_path / "candidate"), slices=["market"])
    capsys.readouterr()
    words = [str(tmp_path / "base"), str(tmp_path / "candidate"), "--slice", "market", "--json"]
    assert main(["compare", *words]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert in_memory.summary == of_folders.summary == printed["answer"] == repr(in_memory)
    assert len(in_memory.rows) == len(printed["rows"])
    difference = in_memory.rows.where(metric="CG", i=None, slice={})[0]["difference"]
    expected = (
        [row["CG"] for row in arms[1].conversations],
        [row["CG"] for row in arms[0].conversations],
    )
    assert difference == pytest.approx((sum(expected[0]) - sum(expected[1])) / 40)


def test_writes_a_report(arms, tmp_path):
    gg.compare(*arms).report(tmp_path / "report.html")
    assert b"<!DOCTYPE html>" in (tmp_path / "report.html").read_bytes()[:100]


def test_reports_wrong_options_and_missing_folders(arms):
    with pytest.raises(gg.UsageError, match=r"slice is not an option of compare; use .*metrics"):
        gg.compare(*arms, slice="market")
    with pytest.raises(gg.UsageError, match="nowhere"):
        gg.compare(arms[0], "nowhere")
