"""The dataset `means` and `means.csv`: the same rows in every format, read selectively."""

import csv

import pytest
from msgspec.structs import asdict

from goodgain.pipeline.results import means as writing
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.folder import MEANS_CSV
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.rows import mean_key
from goodgain.pipeline.results.sinks import Target
from goodgain.pipeline.results.wanted_means import ALL_MEANS, MeansWanted, read_means
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.slices import slice_key
from goodgain.transforms.core.means.values import conversation_values
from tests.core.direct import score, scoring

METRICS = ("ndcg@10", "hit_rate")
MAX_I = 3
ODD = 'a "quoted", name\nof two lines — ü \x00 \\'
COST = "usd"
SCORING = scoring(metrics=METRICS, cost=(COST,), max_i=MAX_I)
SLICES = [{}, {"arm": "B"}, {"arm": ""}, {ODD: ODD, "arm": "A"}]


def sums(conversations, start):
    records = [
        {
            "conversation_id": str(at),
            "iteration": 1,
            "costs": {COST: at / 3, "tokens": 1},
            "results": [{"id": str(rank), "gain": (at + rank) % 5} for rank in range(at % 4)],
        }
        for at in range(start, start + conversations)
    ]
    accumulator = MeansAccumulator()
    for conversation_score in score(records, metrics=METRICS, cost=(COST,), max_i=MAX_I).values():
        accumulator.add(conversation_values(conversation_score, SCORING.plan))
    return accumulator


def write_means(folder, file_format, slices=SLICES):
    """Write means of some slices, and return the expected rows."""
    rows, packed = [], []
    for at, slice_ in enumerate(slices):
        accumulator = sums(1 + 5 * at, at)
        rows += accumulator.rows(slice_, SCORING.plan)
        packed.append(writing._to_one_group((slice_key(slice_), accumulator))[1])
    (file,) = writing._write((0, reversed(packed)), Target(folder, file_format, 1), SCORING, "hall")
    assert file.rows == len(rows)
    return [asdict(mean) for mean in sorted(rows, key=mean_key)]


@pytest.mark.parametrize("file_format", FORMATS)
def test_the_dataset_has_the_same_rows_in_each_format(file_format, tmp_path):
    expected = write_means(str(tmp_path), file_format)
    assert len({row["mean"] for row in expected}) > 20
    assert list(read_dataset(str(tmp_path / ".unfinished"), "means")) == expected
    assert list(read_means(str(tmp_path / ".unfinished"))) == expected


@pytest.mark.parametrize(
    "wanted",
    [
        ALL_MEANS,
        MeansWanted(metrics=frozenset(("N", f"cost.{COST}")), at_end=True),
        MeansWanted(slices=frozenset(map(slice_key, SLICES[1:]))),
        MeansWanted(slices=frozenset((slice_key(SLICES[3]),)), metrics=frozenset(("G_i",))),
        MeansWanted(slices=frozenset()),
    ],
)
@pytest.mark.parametrize("file_format", FORMATS)
def test_only_wanted_rows_are_read(wanted, file_format, tmp_path):
    expected = [row for row in write_means(str(tmp_path), file_format) if wanted.takes(row)]
    assert list(read_means(str(tmp_path / ".unfinished"), wanted)) == expected
    assert bool(expected) == (wanted.slices != frozenset())


def test_means_csv_has_the_same_rows_with_empty_cells_for_null(tmp_path):
    expected = write_means(str(tmp_path), "avro")
    with (tmp_path / ".unfinished" / MEANS_CSV).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row.pop("slice") for row in rows] == [slice_key(row["slice"]) for row in expected]
    for row, written in zip(expected, rows, strict=True):
        del row["slice"]
        assert written == {name: "" if value is None else str(value) for name, value in row.items()}


def test_equal_samples_share_their_estimate():
    ours, theirs = (dict(sums(4, 2).estimates(SCORING.plan)) for _ in range(2))
    assert all(ours[of] is theirs[of] for of in ours if not of.metric.startswith("CG_per_total"))
