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
    assert in_memory.summary == of_folders.summary == printed["answer"]
    assert repr(in_memory).startswith(in_memory.summary)
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


def test_one_run_is_split_by_an_attribute(arms, tmp_path, capsys):
    arms[0].save(tmp_path / "base")
    found = gg.compare(arms[0], by="market", base="de", candidate="fr")
    assert gg.compare(arms[0], by="market", base="de").summary == found.summary
    capsys.readouterr()
    words = [str(tmp_path / "base"), "--by", "market", "--base", "de", "--json"]
    assert main(["compare", *words]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == found.summary


def test_runs_can_be_named(arms):
    named = gg.compare(candidate=arms[1], base=arms[0])
    assert named.summary == gg.compare(*arms).summary
    assert gg.compare(arms[0], candidate=arms[1]).summary == named.summary


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        ("market", {("market",)}),
        (["market"], {("market",)}),
        ([["market"], ["market", "query"]], {("market",), ("market", "query")}),
    ],
)
@pytest.mark.filterwarnings("ignore:Slices")
def test_slices_are_a_name_names_or_combinations(arms, slices, expected):
    found = gg.compare(*arms, slices=slices)
    assert {tuple(row["slice"]) for row in found.rows} - {()} == expected


def test_options_are_those_of_the_command(arms):
    found = gg.compare(
        *arms, metrics="CG", max_i=1, bootstrap=100, seed=3, sign=True, confidence=0.9, tolerances=1
    )
    row = found.rows.where(metric="CG", i=None)[0]
    assert {row["metric"] for row in found.rows} == {"CG", "CG_at_i"}
    assert (row["tolerance"], row["bootstrap_resamples"]) == (1, 100)
    assert row["sign_p"] is not None
    other = gg.compare(*arms, metrics="CG", confidence=0.99).rows.where(metric="CG", i=None)[0]
    assert other["ci_low"] < row["ci_low"]


def test_help_names_every_option():
    with pytest.raises(gg.UsageError) as error:
        gg.compare("base", "candidate", nothing=1)
    options = str(error.value).rsplit(" are ")[1].rstrip(".").split(", ")
    assert {"by", "confidence", "cluster", "examples"} <= set(options)
    for name in options:
        assert name in gg.compare.__doc__, name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slice": "market"}, "slice is not an option; did you mean slices"),
        ({"tolerance": 1}, "tolerance is not an option; did you mean tolerances"),
        ({"metrics": 3}, "The options cannot be used: metrics must be a list."),
        ({"interval": "t"}, "interval must be 'hall' or 'student'."),
        ({"max_i": 0}, "max_i must be at least 1"),
        ({"by": "market", "base": "de"}, "by compares arms within one run: give only that one"),
        ({"unpaired": True, "pair_by": "x"}, "unpaired=True and pair_by exclude each other"),
    ],
)
def test_wrong_options_are_explained(arms, options, message):
    with pytest.raises(gg.UsageError, match=message):
        gg.compare(*arms, **options)


def test_wrong_arms_are_explained(arms):
    with pytest.raises(gg.UsageError, match="nowhere"):
        gg.compare(arms[0], "nowhere")
    with pytest.raises(gg.UsageError, match=r"A run is needed, .* of type DataFrame: give what"):
        gg.compare(arms[0], arms[0].means.to_pandas())
    with pytest.raises(gg.UsageError, match="attribute nope of by; they have market"):
        gg.compare(arms[0], by="nope", base="de")
    with pytest.raises(gg.UsageError, match=r"1 output was given: .* with by=ATTRIBUTE"):
        gg.compare(arms[0])
    with pytest.raises(gg.UsageError, match=r"Which value of market is the base. Give base=VALUE"):
        gg.compare(arms[0], by="market")


def test_an_unknown_attribute_gives_a_warning(arms, tmp_path, capsys):
    line = "No conversation in the means has the attribute nope of slices; they have market."
    with pytest.warns(gg.GoodGainWarning) as caught:
        gg.compare(*arms, slices=["nope", "market"])
    assert [str(warning.message) for warning in caught] == [line]
    assert caught[0].filename == __file__
    for name, arm in zip("ab", arms, strict=True):
        arm.save(tmp_path / name)
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--slice", "nope"]) == 0
    assert line.replace("slices", "--slice") in capsys.readouterr().err


def test_one_run_as_both_arms_gives_a_warning(arms, tmp_path):
    arms[0].save(tmp_path / "a")
    for both in ((arms[0], arms[0]), (tmp_path / "a", str(tmp_path / "a"))):
        with pytest.warns(gg.GoodGainWarning, match="are the same run, so nothing can differ"):
            gg.compare(*both)


def test_reasons_name_arguments_and_written_ones_options(arms, tmp_path):
    found = gg.compare(*arms, primary="ndcg@10")
    (row,) = found.rows.where(metric="ndcg@10", i=None, slice={})
    assert "the same judgments (qrels or pool)" in row["reason"]
    assert row["reason"] in found.summary
    assert row["reason"] in repr(found)
    assert "--" not in found.summary
    found.report(tmp_path / "report.html")
    assert "the same judgments (--qrels or --pool)" in (tmp_path / "report.html").read_text()
