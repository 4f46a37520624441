"""Nights with outcomes of their day, repeats, and what was opened: gated and compared."""

import json
import shutil
from datetime import date

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from tests.pipeline.runs import manifest, rows
from tests.pipeline.studies.nightly.world import World

pytestmark = pytest.mark.slow

RUN = """
metrics: [ndcg@10]
max_i: 2
cluster: query_id
pass: ["CG >= 5", "outcome.correct >= 1"]
pass_k: [1, 3]
outcomes: {folder}/judged/date={{date}}.csv
"""
GATE = """
least_n: 5
rules:
  - pass^3[CG >= 5] >= 0.8
  - open_recall >= 0.6
  - outcome.correct >= 60 %
  - {metric: outcome.correct, drop_at_most: 10 %, proof: none}
  - {metric: open_recall, drop_at_most: 10 %, proof: none}
"""
DAYS = [date(2025, 3, number) for number in (1, 2, 3, 4)]
QUERIES, REPEATS = 12, 3


def make_night(world, day, gathers=12, opens=1.0, right=1.0):
    """Repeats of queries; the first `gathers` gather 6, the others less one time in three."""
    records, judged = [], ["conversation_id,correct"]
    for query in range(QUERIES):
        for repeat in range(REPEATS):
            name = f"{day}-q{query}-{repeat}"
            number = query * REPEATS + repeat
            gain = 3 if query < gathers or repeat else 2
            found = [{"url": f"https://a.org/{name}/{index}", "gain": gain} for index in range(2)]
            common = {"conversation_id": name, "attributes": {"query_id": f"q{query}"}}
            records.append({**common, "iteration": 1, "results": found})
            opened = found if number < opens * QUERIES * REPEATS else []
            records.append({**common, "iteration": 2, "action": "open", "results": opened})
            judged.append(f"{name},{number < right * QUERIES * REPEATS}")
    path = world.trace_path(day)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    table = world.folder / f"judged/date={day}.csv"
    table.parent.mkdir(exist_ok=True)
    table.write_text("\n".join(judged) + "\n")


def configure(folder):
    world = World(folder)
    world.configure(baseline="mean of last 2")
    (folder / "run.yaml").write_text(RUN.format(folder=folder))
    (folder / "gate.yaml").write_text(GATE)
    return world


@pytest.fixture(scope="module")
def two_nights(tmp_path_factory):
    """A folder with two good nights."""
    world = configure(tmp_path_factory.mktemp("nights"))
    for day in DAYS[:2]:
        make_night(world, day)
        assert world.nightly("--date", str(day)) == ExitCode.DONE, world.entry(day)["reasons"]
    return world.folder


@pytest.fixture
def world(two_nights, tmp_path):
    """A copy of the two good nights."""
    shutil.copytree(two_nights, tmp_path, dirs_exist_ok=True)
    return configure(tmp_path)


def test_each_night_has_the_outcomes_of_its_day(world):
    for day in DAYS[:2]:
        place = world.place(day)
        assert manifest(place)["outcome_rows"]["joined"] == QUERIES * REPEATS
        assert {row["outcome.correct"] for row in rows(place, "conversations")} == {1}
        means = {row["metric"]: row["mean"] for row in rows(place, "means") if row["i"] is None}
        assert means["pass^3[CG >= 5]"] == means["open_recall"] == 1


@pytest.mark.parametrize(
    ("worse", "broken"),
    [
        ({"gathers": 6}, ["pass^3[CG >= 5]"]),
        ({"opens": 0.5}, ["open_recall"] * 2),
        ({"right": 0.5}, ["Outcome correct"] * 2),
        ({"gathers": 10}, []),
        ({}, []),
    ],
)
def test_a_worse_night_breaks_the_rules_on_its_values_and_on_change(world, worse, broken):
    make_night(world, DAYS[2], **worse)
    code = world.nightly("--date", str(DAYS[2]))
    entry = world.entry(DAYS[2])
    assert code == (ExitCode.REGRESSION if broken else ExitCode.DONE)
    assert entry["baseline"] == [str(day) for day in DAYS[:2]]
    assert len(entry["reasons"]) == len(broken), entry["reasons"]
    for reason, words in zip(entry["reasons"], broken, strict=True):
        assert words in reason


def test_a_night_without_its_table_of_outcomes_fails_with_its_name(world, capsys):
    make_night(world, DAYS[2])
    (world.folder / f"judged/date={DAYS[2]}.csv").unlink()
    assert world.nightly("--date", str(DAYS[2])) != ExitCode.DONE
    assert f"judged/date={DAYS[2]}.csv" in capsys.readouterr().out
    assert not world.place(DAYS[2]).exists()
