"""The baseline of a day, over a few scored days."""

import json
import shutil
from datetime import date
from pathlib import Path
from statistics import fmean

import pytest
from msgspec.structs import replace

from goodgain.pipeline.results.finished_run import read_dataset, read_run
from goodgain.pipeline.studies.comparison.compare import compare
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.nightly.baseline import Baseline, find_baseline
from goodgain.pipeline.studies.nightly.config import BaselineChoice
from goodgain.pipeline.studies.nightly.days.days import DayFolders
from goodgain.pipeline.studies.nightly.night import changes, judge
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.gains import DECLARED as GAINS
from goodgain.transforms.core.metrics.headline import headline_among
from tests.pipeline.studies.comparison.traces import conversation, output_of
from tests.pipeline.studies.nightly.world import World, edit_results

pytestmark = pytest.mark.slow
DAYS = [date(2025, 3, number) for number in range(1, 5)]


@pytest.fixture(scope="module")
def scored_days(tmp_path_factory):
    """Four days; every day has the conversation ids of the first."""
    world = World(tmp_path_factory.mktemp("world"))
    world.configure(gate=None)
    for number, day in enumerate(DAYS):
        path = world.make_traces(day, 12 + number, seed=1)
        edit_results(
            path, lambda result, more=number: result.update(gain=(result["gain"] + more) % 5)
        )
        assert world.nightly("--date", str(day)) == 0
    return world


@pytest.fixture
def world(scored_days, tmp_path):
    world = World(tmp_path)
    shutil.copytree(scored_days.output, world.output)
    return world


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def baseline_of(world, day, choice):
    manifest = read_run(str(world.place(day)))
    return find_baseline(BaselineChoice.parse(choice), day, manifest, DayFolders(world.output))


def gains(world, day):
    return [row["CG"] for row in read_dataset(str(world.place(day)), "conversations") if row["N"]]


def test_first_day_has_no_baseline(world):
    found = baseline_of(world, DAYS[0], "previous_good")
    assert (found.days, found.folder) == ((), None)
    assert found.lacking == "no earlier day was good"
    assert changes(world.place(DAYS[0]), found) == {}


def test_previous_good_skips_days_that_failed_the_gate(world):
    assert baseline_of(world, DAYS[2], "previous_good").days == (DAYS[1],)
    edit(world.place(DAYS[1]) / "day.json", lambda entry: entry.update(verdict="gate failed"))
    found = baseline_of(world, DAYS[2], "previous_good")
    assert (found.days, found.folder) == ((DAYS[0],), world.place(DAYS[0]))
    changed = changes(world.place(DAYS[2]), found)["CG"]
    shared = sorted(gains(world, DAYS[0]))
    assert changed.n_base == changed.n == len(shared)  # paired by conversation
    assert changed.base == pytest.approx(fmean(shared))


def test_mean_of_last_days_pools_their_conversations(world):
    found = baseline_of(world, DAYS[3], "mean of last 2")
    assert found.days == (DAYS[1], DAYS[2])
    pooled = [*gains(world, DAYS[1]), *gains(world, DAYS[2])]
    changed = changes(world.place(DAYS[3]), found)["CG"]
    assert changed.n_base == len(pooled)
    assert changed.base == pytest.approx(fmean(pooled), rel=1e-12)
    assert changed.difference == pytest.approx(fmean(gains(world, DAYS[3])) - fmean(pooled))


def test_mean_of_last_uses_the_days_that_exist(world):
    assert baseline_of(world, DAYS[2], "mean of last 7").days == (DAYS[0], DAYS[1])
    assert baseline_of(world, DAYS[1], "mean of last 7").days == (DAYS[0],)


def test_days_with_other_options_are_no_baseline(world):
    for day in DAYS[:2]:
        edit(
            world.place(day) / "manifest.json",
            lambda manifest: manifest["parameters"].update(good_gain_threshold=3),
        )
    found = baseline_of(world, DAYS[2], "previous_good")
    assert (found.days, found.folder) == ((), None)
    assert "2 earlier good days could not be used as baseline" in found.lacking
    assert "good_gain_threshold (3 against 2)" in found.lacking
    assert baseline_of(world, DAYS[3], "mean of last 2").days == (DAYS[2],)


def test_a_damaged_entry_is_reported_and_is_no_baseline(world):
    (world.place(DAYS[0]) / "day.json").write_bytes(b'{"date": "\xff"}\n')
    assert baseline_of(world, DAYS[1], "previous_good").lacking == (
        "no earlier day was good (the day.json of 2025-03-01 cannot be read, so it is neither "
        "baseline nor in the history: run that day again)"
    )
    found = baseline_of(world, DAYS[2], "mean of last 7")
    assert found.days == (DAYS[1],)
    assert found.note.startswith("the day.json of 2025-03-01 cannot be read")
    assert baseline_of(world, DAYS[0], "previous_good").lacking == "no earlier day was good"


def test_a_day_with_a_manifest_of_another_version_is_no_baseline(world):
    edit(world.place(DAYS[1]) / "manifest.json", lambda manifest: manifest.pop("records"))
    found = baseline_of(world, DAYS[2], "previous_good")
    assert found.days == (DAYS[0],)
    assert found.note.startswith("1 earlier good day could not be used as baseline: ")
    assert str(world.place(DAYS[1])) in found.note


def test_a_pinned_day_must_exist_and_have_the_same_options(world):
    found = baseline_of(world, DAYS[1], str(DAYS[3]))  # even a later one
    assert (found.days, found.folder) == ((DAYS[3],), world.place(DAYS[3]))
    with pytest.raises(UsageError, match=r"2025-02-01 is not in .* run that day first"):
        baseline_of(world, DAYS[1], "2025-02-01")
    edit(
        world.place(DAYS[3]) / "manifest.json",
        lambda manifest: manifest["parameters"].update(g_max=3),
    )
    with pytest.raises(UsageError, match=r"measured something else.*g_max \(3 against 4\)"):
        baseline_of(world, DAYS[1], str(DAYS[3]))


def test_the_pinned_day_itself_has_no_baseline(world):
    found = baseline_of(world, DAYS[1], str(DAYS[1]))
    assert (found.days, found.lacking) == ((), "it is the pinned day itself")


def test_the_first_day_with_new_options_can_pass_and_become_a_baseline(world):
    """Otherwise every day would lack a baseline, fail its rules, and never become a baseline."""
    (world.folder / "traces").symlink_to(traces_of(world))
    world.configure()
    (world.folder / "run.yaml").write_text("good_gain_threshold: 3\n")
    for day in DAYS[2:]:
        assert world.nightly("--date", str(day)) == 0
    first, second = (world.entry(day) for day in DAYS[2:])
    assert first["baseline"] == []
    assert "good_gain_threshold (2 against 3)" in first["notes"][0]
    assert first["notes"][0].startswith("not compared with a baseline: ")
    assert "**failed**" not in (world.place(DAYS[2]) / "gate.md").read_text()
    assert second["baseline"] == [str(DAYS[2])]


def test_changes_have_the_names_and_numbers_of_compare(world):
    """The 95 % interval is that of the difference alone; Holm's is in `verdict_ci_*`."""
    folder, found = world.place(DAYS[1]), baseline_of(world, DAYS[1], "previous_good")
    request = ComparisonRequest(
        (str(found.folder), str(folder)),
        metrics=headline_among("comparison", GAINS),
        family=headline_among("decision", GAINS),
        max_i=1,
    )
    rows = {row.metric: row for row in compare(request).rows if row.i is None}
    names = ("ci_low", "ci_high", "p_holm", "verdict_ci_low", "verdict_ci_high")
    wider = 0
    for metric, change in changes(folder, found).items():
        for name in names:
            assert getattr(change, name) == getattr(rows[metric], name), (metric, name)
        wider += change.verdict_ci_low is not None and change.verdict_ci_low < change.ci_low
    assert wider > 0


def traces_of(world):
    """The folder of the traces from which the days of a copied world were scored."""
    return Path(read_run(str(world.place(DAYS[0]))).inputs[0].path).parents[1]


def test_a_day_without_conversations_in_the_means_is_bad_data(world):
    of_day = read_run(str(world.place(DAYS[1])))
    manifest = replace(of_day, conversations=replace(of_day.conversations, in_means=0))
    found = baseline_of(world, DAYS[1], "previous_good")
    bad = judge(world.place(DAYS[1]), manifest, found, None)
    assert bad == ("bad data", ("there are no conversations in the means",), ())


@pytest.mark.parametrize(
    ("gains", "base", "reason"),
    [
        (
            (3, None),
            6.0,
            "100.0 % of the results of the base have a label, 0.0 % of the candidate's",
        ),
        (
            (None, 3),
            None,
            "0.0 % of the results of the base have a label, 100.0 % of the candidate's",
        ),
        ((None, None), None, "no result has a label"),
    ],
)
def test_differences_are_null_if_a_day_has_no_labels(gains, base, reason, tmp_path):
    """Rows of unlabelled conversations have gain 0, which would look like a total loss."""
    before, after = (
        output_of(
            tmp_path / str(at),
            [conversation(f"c{number}", [[gain, gain]]) for number in range(6)],
            allow_unlabelled=True,
        )
        for at, gain in enumerate(gains)
    )
    found = changes(Path(after), Baseline((DAYS[0],), Path(before)))
    gain, repeated = found["CG"], found["SRR"]
    assert (gain.base, gain.difference, gain.ci_low, gain.ci_high) == (base, None, None, None)
    assert (gain.p_holm, gain.verdict, gain.reason) == (None, "not comparable", reason)
    assert (repeated.base, repeated.difference) == (0.0, 0.0)
