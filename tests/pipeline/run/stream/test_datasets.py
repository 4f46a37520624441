import pytest

from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.run.stream import datasets
from goodgain.pipeline.run.stream.stream_counts import totals_of
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.streaming.windowed_means import WindowedMeanRow
from tests.pipeline.run.stream.rows import MINUTE, NOON, live, score
from tests.pipeline.runs import plain_scoring

PLAN = plain_scoring(max_i=2).plan
SCORES = [
    score("a", NOON, NOON + MINUTE),
    score("b", NOON, rejected=2),
    score("c", rejected=1),
    score("d", NOON, NOON + MINUTE, action="open"),
]


def windowed_means():
    accumulator = MeansAccumulator()
    for conversation_score in SCORES:
        if values := conversation_values(conversation_score, PLAN):
            accumulator.add(values)
    return [
        WindowedMeanRow(NOON, NOON + 60 * MINUTE, 4, True, row)
        for row in accumulator.rows({"arm": "A"}, PLAN)
    ]


WRITTEN = {
    "conversations": (
        datasets.conversations(PLAN),
        [row for score in SCORES for row in datasets.conversation_rows(score)],
    ),
    "live": (
        datasets.live(PLAN),
        [row for n in (1, 2) for row in datasets.live_rows(live("c", n))],
    ),
    "means": (
        datasets.MEANS,
        [row for mean in windowed_means() for row in datasets.windowed_rows(mean)],
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("format", FORMATS)
def test_written_rows_are_read_back_in_each_format(tmp_path, name, format):
    dataset, rows = WRITTEN[name]
    path = tmp_path / "part"
    with path.open("wb") as file:
        FORMATS[format].write(dataset, rows, file)
    with path.open("rb") as file:
        assert list(FORMATS[format].read(file)) == rows


@pytest.mark.parametrize("name", WRITTEN)
def test_rows_have_the_columns_of_their_dataset(name):
    dataset, rows = WRITTEN[name]
    assert len(rows) > 1
    for row in rows:
        assert set(row) == {column.name for column in dataset.columns}


def test_outcomes_of_records_are_counted_from_rows():
    rows = WRITTEN["conversations"][1]
    expected = [sum(score.counts[f"records.{name}"] for score in SCORES) for name in _OUTCOMES]
    assert [totals_of("conversations", rows)[f"records.{name}"] for name in _OUTCOMES] == expected
    assert totals_of("conversations", rows)["conversations.in_means"] == 1
    assert totals_of("iterations", rows) == {}


_OUTCOMES = ("scored", "earlier_turn", "redelivered")
