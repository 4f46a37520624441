"""Lengths of the texts of an ordinary Parquet file show that its row groups are harmless."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goodgain.transforms.core.files import parquet_row_sizes
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS
from goodgain.transforms.core.files.parquet_row_groups import ParquetRowGroups

GROUPS, ROWS, RESULTS = 3, 300, 5


def write_traces(snippet_of):
    """A file whose dictionaries are so large that each value could be too long."""
    table = pa.table(
        {
            "conversation_id": [f"c{row}" for row in range(GROUPS * ROWS)],
            "iteration": [1] * GROUPS * ROWS,
            "results": [
                [{"snippet": snippet_of(row * RESULTS + rank)} for rank in range(RESULTS)]
                for row in range(GROUPS * ROWS)
            ],
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=ROWS)
    return file


def read_rows(file):
    groups = ParquetRowGroups(file)
    batches = (
        batch
        for group in range(groups.count)
        for batch in groups.batches(group, groups.names, DEFAULT_BOUNDS)
    )
    return sum(batch.num_rows for batch in batches)


@pytest.fixture
def asked(monkeypatch):
    """What is asked of a file beyond its page headers, in order."""
    found = []
    for name in ("_open", "_longest_text", "_longest_row"):
        original = getattr(parquet_row_sizes, name)

        def noting(*args, name=name, original=original, **options):
            found.append(name)
            return original(*args, **options)

        monkeypatch.setattr(parquet_row_sizes, name, noting)
    return found


def test_ordinary_texts_cost_one_look_a_group_and_two_open_files(asked):
    file = write_traces(lambda number: f"the snippet {number} of an ordinary result")
    assert read_rows(file) == GROUPS * ROWS
    assert asked == ["_open", "_longest_text", "_open", *["_longest_text"] * (GROUPS - 1)]


def test_a_long_text_makes_a_group_ask_for_the_lengths_of_its_rows(asked):
    file = write_traces(lambda number: "x" * 50_000 if number == 0 else f"snippet {number}")
    assert read_rows(file) == GROUPS * ROWS
    assert asked.count("_longest_row") == 1
