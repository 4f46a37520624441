"""Lengths of the texts of an ordinary Parquet file show that its row groups are harmless."""

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.files import (
    parquet_dictionary,
    parquet_leaves,
    parquet_row_sizes,
)
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS
from goodgain.transforms.core.files.parquet_row_groups import ParquetRowGroups
from goodgain.transforms.core.native import native_module
from tests.core.files import samples
from tests.native.paths import needs_native

GROUPS, ROWS, RESULTS = 3, 300, 5


def write_traces(snippet_of, **options):
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
    return io.BytesIO(samples.table_bytes(table, group=ROWS, **options))


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
    for module, name in (
        (parquet_leaves, "_open"),
        (parquet_row_sizes, "_longest_decoded_text"),
        (parquet_row_sizes, "_longest_row"),
    ):
        original = getattr(module, name)

        def noting(*args, name=name, original=original, **options):
            found.append(name)
            return original(*args, **options)

        monkeypatch.setattr(module, name, noting)
    return found


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
def test_ordinary_texts_are_decoded_once(asked, codec):
    file = write_traces(lambda number: f"the snippet {number} of an ordinary result", codec=codec)
    assert read_rows(file) == GROUPS * ROWS
    assert asked == ["_open"]


def test_pyarrow_finds_the_longest_text_where_the_page_cannot_be_read(asked, monkeypatch):
    monkeypatch.setattr(parquet_dictionary, "_CODECS", {})
    file = write_traces(
        lambda number: f"the snippet {number} of an ordinary result", codec="snappy"
    )
    assert read_rows(file) == GROUPS * ROWS
    look = "_longest_decoded_text"
    assert asked == ["_open", look, "_open", *[look] * (GROUPS - 1)]


def test_a_long_text_makes_a_group_ask_for_the_lengths_of_its_rows(asked):
    file = write_traces(lambda number: "x" * 50_000 if number == 0 else f"snippet {number}")
    assert read_rows(file) == GROUPS * ROWS
    assert asked.count("_longest_row") == 1


def written(texts):
    """Texts as in the page of a dictionary."""
    return b"".join(len(text).to_bytes(4, "little") + text for text in texts)


FINDERS = [
    pytest.param(parquet_dictionary.longest_text, id="python"),
    pytest.param(getattr(native_module(), "longest_text", None), id="native", marks=needs_native),
]


@pytest.mark.parametrize("find", FINDERS)
@given(st.lists(st.binary(max_size=300)), st.data())
def test_the_longest_text_is_that_of_just_these_texts(find, texts, data):
    content = written(texts)
    assert find(content, len(texts)) == max(map(len, texts), default=0)
    assert find(content, len(texts) + 1) is None
    assert find(content, len(texts) - 1) is None
    cut = data.draw(st.integers(0, max(0, len(content) - 1)))
    if content:
        assert find(content[:cut], len(texts)) is None


@pytest.mark.parametrize("find", FINDERS)
def test_a_length_beyond_the_page_is_no_text(find):
    assert find(written([b"ab"]) + b"\xff\xff\xff\xff", 2) is None
    assert find(written([b"ab"]) + b"\x01\x00", 1) is None
