"""The dataset `means` and `means.csv`: the same rows in every format, read selectively."""

import io

import pytest
from msgspec.structs import asdict

from goodgain.pipeline.results import means as writing
from goodgain.pipeline.results import readers as reading
from goodgain.pipeline.results.folder import MEANS_CSV, read_dataset
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.readers import ALL_MEANS, MeansWanted, read_means
from goodgain.pipeline.results.rows import mean_key
from goodgain.pipeline.results.sinks import Target
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.slices import slice_key
from goodgain.transforms.core.means.values import conversation_values
from tests.core.direct import score

METRICS = ("ndcg@10", "hit_rate")
MAX_I = 3
ODD = 'a "quoted", name\nof two lines — ü \x00 \\'
SLICES = [{}, {"arm": "B"}, {"arm": ""}, {ODD: ODD, "arm": "A"}]


def sums(conversations, start):
    records = [
        {
            "conversation_id": str(at),
            "iteration": 1,
            "costs": {ODD: at / 3, "tokens": 1},
            "results": [{"id": str(rank), "gain": (at + rank) % 5} for rank in range(at % 4)],
        }
        for at in range(start, start + conversations)
    ]
    accumulator = MeansAccumulator.empty(None, MAX_I)
    for one in score(records, metrics=METRICS, costs=(ODD,)).values():
        accumulator.add(conversation_values(one, MAX_I))
    return accumulator


def write_means(folder, file_format, slices=SLICES):
    """Write means of some slices, and return the expected rows."""
    rows, packed = [], []
    for at, slice_ in enumerate(slices):
        accumulator = sums(1 + 5 * at, at)
        rows += accumulator.rows(slice_, METRICS)
        packed.append(writing._together((slice_key(slice_), accumulator))[1])
    (file,) = writing._write((0, reversed(packed)), Target(folder, file_format, 1), METRICS, "hall")
    assert file.rows == len(rows)
    return [asdict(mean) for mean in sorted(rows, key=mean_key)]


@pytest.mark.parametrize("file_format", FORMATS)
def test_the_dataset_in_each_format_and_means_csv_have_the_same_rows(file_format, tmp_path):
    expected = write_means(str(tmp_path), file_format)
    assert len({row["mean"] for row in expected}) > 20
    assert list(read_dataset(str(tmp_path / ".unfinished"), "means")) == expected
    assert list(read_means(str(tmp_path / ".unfinished"))) == expected


@pytest.mark.parametrize(
    "wanted",
    [
        ALL_MEANS,
        MeansWanted(metrics=frozenset(("N", "cost." + ODD)), at_end=True),
        MeansWanted(slices=frozenset(map(slice_key, SLICES[1:]))),
        MeansWanted(slices=frozenset((slice_key(SLICES[3]),)), metrics=frozenset(("G_i",))),
        MeansWanted(slices=frozenset()),
    ],
)
@pytest.mark.parametrize("has_table", [True, False])
def test_wanted_rows_are_read_from_means_csv_or_else_from_the_dataset(wanted, has_table, tmp_path):
    expected = [row for row in write_means(str(tmp_path), "avro") if wanted.takes(row)]
    folder = tmp_path / ".unfinished"
    if not has_table:
        (folder / MEANS_CSV).unlink()
    assert list(read_means(str(folder), wanted)) == expected
    assert bool(expected) == (wanted.slices != frozenset())


@pytest.mark.parametrize("batch", [1, 37, 1_000])
def test_means_csv_read_in_small_batches_gives_whole_rows(batch, tmp_path, monkeypatch):
    expected = write_means(str(tmp_path), "avro")
    monkeypatch.setattr(reading, "_BATCH", batch)
    assert list(read_means(str(tmp_path / ".unfinished"))) == expected


def test_a_last_row_without_a_line_feed_is_read_but_a_partial_row_is_refused(tmp_path):
    expected = write_means(str(tmp_path), "avro")
    table = tmp_path / ".unfinished" / MEANS_CSV
    content = table.read_bytes()
    table.write_bytes(content.removesuffix(b"\n"))
    assert list(read_means(str(table.parent))) == expected
    table.write_bytes(content[: content.rfind(b",", 0, -40)])
    with pytest.raises(UsageError, match=r"means\.csv"):
        list(read_means(str(table.parent)))


def test_means_csv_is_read_only_as_far_as_rows_are_consumed(tmp_path, monkeypatch):
    """With a reader that reads ahead, memory would grow with the table."""
    sizes = []
    opened = reading.open_plain

    def opening(path):
        file = opened(path)
        read = file.read
        monkeypatch.setattr(file, "read", lambda size: sizes.append(size) or read(size))
        return file

    expected = write_means(str(tmp_path), "avro")
    monkeypatch.setattr(reading, "_BATCH", 10_000)
    monkeypatch.setattr(reading, "open_plain", opening)
    assert next(read_means(str(tmp_path / ".unfinished"))) == expected[0]
    assert sizes == [10_000]


def test_equal_estimates_of_many_slices_are_encoded_once(monkeypatch):
    """A row joins encoded parts, and the estimate of equal samples is one of these parts."""
    encoded = []
    encode = writing._csv
    monkeypatch.setattr(
        writing, "_csv", lambda columns, values: encoded.append(1) or encode(columns, values)
    )
    means = sums(3, 1).estimates(METRICS)
    file = writing._csv_file(io.BytesIO())
    for at in range(1_000):
        file.add({"customer": str(at)}, sums(3, 1).estimates(METRICS) if at < 3 else means)
    of, estimates = {of for of, _ in means}, {id(estimate) for _, estimate in means}
    ratios = 3  # of costs, which are not cached
    assert len(encoded) <= 1_000 + len(of) + len(estimates) + ratios < 1_400
    assert len(means) > 130


def test_equal_samples_share_their_estimate():
    ours, theirs = (dict(sums(4, 2).estimates(METRICS)) for _ in range(2))
    assert all(ours[of] is theirs[of] for of in ours if not of.metric.startswith("CG_per_total"))


def test_the_cache_of_encoded_estimates_is_bounded(monkeypatch):
    monkeypatch.setattr(writing, "_MOST_CACHED", 100)
    rows = writing._EncodedRows(writing._csv)
    for at in range(50):
        means = sums(12, at).estimates(METRICS)
        joined = b"".join(rows.of({"at": str(at)}, means))
        assert joined == b"".join(writing._EncodedRows(writing._csv).of({"at": str(at)}, means))
        assert len(rows._encoded_estimates) <= 100 + len(means)
