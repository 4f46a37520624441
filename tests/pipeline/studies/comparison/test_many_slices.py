"""Work of comparisons and gates grows linearly with the number of slices, not quadratically."""

import io
import json
from types import SimpleNamespace

import pytest
from rich.console import Console

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.document.terminal import show
from goodgain.pipeline.results import wanted_means
from goodgain.pipeline.results.way_sums import COLUMNS as WAY_COLUMNS
from goodgain.pipeline.studies.comparison import compare as comparing
from goodgain.pipeline.studies.comparison.arm_rows import read_arm
from goodgain.pipeline.studies.comparison.idle_conversations import Unsearched
from goodgain.pipeline.studies.comparison.measures import choose
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.gate.change import slices_to_check
from goodgain.pipeline.studies.gate.evidence import GateMeans, gather
from goodgain.pipeline.studies.gate.gate_file import GateFile
from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.pipeline.views import comparison as views
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from tests.core.direct import plan
from tests.pipeline.studies.comparison.traces import conversation, options_of_run, output_of


class CountedReads(dict):
    """Attributes or a row, counting lookups in all of them."""

    reads = 0

    def get(self, *words):
        CountedReads.reads += 1
        return super().get(*words)

    def __getitem__(self, name):
        CountedReads.reads += 1
        return super().__getitem__(name)


class CountedPasses(list):
    """Rows, counting iterations over them."""

    passes = 0

    def __iter__(self):
        CountedPasses.passes += 1
        return super().__iter__()


@pytest.fixture(autouse=True)
def _reset_counters():
    CountedReads.reads = CountedPasses.passes = 0


def arm_of_users(conversations):
    """An arm in which each conversation is a slice; every fourth did not search."""
    numbers = dict.fromkeys((*WAY_COLUMNS, "unlabelled", "rejected_records"), 0)
    numbers |= {"CG": 1.0, "R": 2, "SRE": 0.5, "SRR": 0.0}
    rows = [
        {
            "conversation_id": f"c{at}",
            "attributes": CountedReads(user=f"u{at}"),
            "N": int(at % 4 > 0),
            **numbers,
        }
        for at in range(conversations)
    ]
    measures = choose(["CG"], (), plan((), 1))
    whole = [{"conversation_id": row["conversation_id"]} for row in rows if row["N"]]
    iterations = [{**BY_I, **row, "i": 1} for row in whole]
    return read_arm(rows, iterations, "arm", measures, Unsearched(options_of_run(), measures.plan))


BY_I = dict.fromkeys((metric.name for metric in GAINS.by_i), 0) | {"iteration": 1}


def test_an_arm_is_read_once_for_all_its_slices():
    arm = arm_of_users(400)
    CountedReads.reads = 0
    parts = list(comparing.slices([("user",)], arm, arm))
    found = [arm.where(slice_) for slice_ in parts]
    assert len(parts) == 1 + 300
    assert [len(part.ids) for part in found] == [300] + [1] * 300
    assert arm.where({"user": "u4"}).without_search.ids == ("c4",)
    assert list(arm.where({"user": "u4"}).left_out) == ["c4"]
    # Once for each conversation, and once more for those left out because they did not search.
    assert CountedReads.reads <= 2 * 400


def test_slices_of_everyone_include_conversations_without_search():
    arm = arm_of_users(8)
    assert arm.where({"user": "u4"}).ids == ()
    assert arm.everyone().where({"user": "u4"}).ids == ("c4",)


def test_means_are_read_once_for_all_rules():
    rows = [
        CountedReads(slice={"user": f"u{at}"}, metric="CG", i=None, population="all", mean=at)
        for at in range(400)
    ]
    means = GateMeans(rows)
    reads_to_index = CountedReads.reads
    assert len(means.slices({"user": None})) == 400
    for at in range(400):
        assert means.slices({"user": f"u{at}"}) == [{"user": f"u{at}"}]
        assert means.mean({"user": f"u{at}"}, "CG", None, "everyone")["mean"] == at
    assert means.slices({"user": "u400"}) == means.slices({"market": None}) == []
    assert CountedReads.reads - reads_to_index == 400  # `["mean"]` above


def test_a_rule_for_one_slice_reads_only_that_slice():
    arm = arm_of_users(400)
    CountedReads.reads = 0
    arms = SimpleNamespace(base=arm, candidate=arm)
    for at in range(400):
        rule = Rule.model_validate({"metric": "CG", "slice": {"user": f"u{at}"}, "drop_at_most": 1})
        # u0, u4, ... have no conversation that counts.
        assert slices_to_check(rule, arms) == ([{"user": f"u{at}"}] if at % 4 else [])
    assert CountedReads.reads <= 2 * 400


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    return tuple(
        output_of(
            folder / name,
            [
                conversation(f"c{at:02}", [[gain, 2], [at % 5]], user=f"u{at % 70}", market="de")
                for at in range(80)
            ],
            slice=["user", "user,market"],
            max_i=1,
            metrics=[],
        )
        for name, gain in (("base", 1), ("candidate", 3))
    )


@pytest.mark.slow
def test_a_gate_reads_only_the_means_that_its_rules_name(runs, monkeypatch):
    read_rows = []
    read = wanted_means.read_means

    def counting(folder, wanted):
        for row in read(folder, wanted):
            read_rows.append(row)
            yield row

    monkeypatch.setattr("goodgain.pipeline.studies.gate.evidence.read_means", counting)
    gather(GateFile.model_validate({"rules": ["CG >= 0", "SRR <= 1"]}), runs[1], None)
    assert {row["metric"] for row in read_rows} == {"N", "CG", "SRR"}
    assert all(row["slice"] == {} and row["i"] is None for row in read_rows)
    read_rows.clear()
    rule = {"metric": "CG", "slice": "user", "at_least": 0}
    evidence = gather(GateFile.model_validate({"rules": [rule]}), runs[1], None)
    assert {row["metric"] for row in read_rows} == {"N", "CG"}
    assert len(evidence.means.slices({"user": None})) == 70


def test_beyond_a_limit_slices_have_only_the_family(runs, monkeypatch, tmp_path, capsys):
    words = [*runs, "--slice", "user", "--metrics", "CG", "SRR", "--family", "CG", "--max-i", "1"]
    assert main(["compare", *words, "--json"]) == 0
    every = json.loads(capsys.readouterr().out)
    assert every["only_family_in_slices"] is False
    monkeypatch.setattr(comparing, "MOST_SLICE_ROWS", 70)
    assert main(["compare", *words, "--json", "--output", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    few = json.loads(printed.out)
    assert few["only_family_in_slices"] is True
    assert "There are 70 slices, so only metrics of the family" in " ".join(printed.err.split())
    assert few["rows"] == [
        row for row in every["rows"] if not row["slice"] or row["family"] != "further"
    ]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "only the metrics of the family" in page


def test_the_terminal_shows_the_largest_slices(runs):
    compared = comparing.compare(
        ComparisonRequest(runs, metrics=("CG",), slices=(("user",),), max_i=1)
    )
    text = io.StringIO()
    rows = CountedPasses(compared.rows)
    shown = comparing.Compared(
        **{name: getattr(compared, name) for name in compared.__struct_fields__} | {"rows": rows}
    )
    show(views.comparison_document(shown), Console(file=text, width=80))
    lines = text.getvalue().splitlines()
    titles = [line.split(",")[0] for line in lines if line.startswith("user = ")]
    assert len(titles) == 60
    # The first ten have two conversations, the others one.
    assert {f"user = u{at}" for at in range(10)} <= set(titles)
    assert "10 smaller slices are not shown; use --json or --output for all." in lines
    assert CountedPasses.passes < 10
