"""What is decoded from Parquet adds up to what the file says, or the row group is rejected."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.parquet_footer import read_footer
from goodgain.transforms.core.files.thrift import read_struct
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.files import read_documents
from tests.core.files import samples

pytestmark = [pytest.mark.usefixtures("reading"), pytest.mark.slow]

ROWS = samples.records(60, results=3)
TABLE = pa.Table.from_pylist(samples.parquet_rows(ROWS), samples.parquet_schema())
GROUP = 20
GOOD = samples.calls(samples.read(samples.table_bytes(TABLE), "a.parquet"))
SMALL_PAGES = {"data_page_size": 100, "write_batch_size": 5}
LAYOUTS = {
    "one page a column": {},
    "small pages": {**SMALL_PAGES, "use_dictionary": False},
    "small pages of version 2": {**SMALL_PAGES, "data_page_version": "2.0"},
}
TYPE, VALUES, DATA_HEADER = 1, 1, 5  # fields of page headers
DATA_PAGES = (0, 3)


def write_group(group=GROUP, **options):
    return samples.table_bytes(TABLE, group=group, **options)


def chunks_of(content, group):
    return read_footer(io.BytesIO(content))[group].chunks


def column_index(content, path):
    schema = pq.ParquetFile(io.BytesIO(content)).schema
    return next(at for at in range(len(schema)) if schema.column(at).path == path)


def data_pages(content, chunk):
    """The positions of the headers of a column's data pages."""
    return [
        begin
        for begin, end in samples.page_headers(content)
        if chunk.begin <= begin < chunk.begin + chunk.size
        and read_struct(content[begin:end])[0][TYPE] in DATA_PAGES
    ]


def change_byte(content, place, byte):
    return content[:place] + bytes([byte]) + content[place + 1 :]


def with_other_number(content, places, old, new, is_right):
    """The content with a number changed, at the first place where the change is the right one."""
    (before,), (after,) = samples.zigzag(old), samples.zigzag(new)
    for place in places:
        if content[place] == before:
            found = change_byte(content, place, after)
            if is_right(found):
                return found
    raise AssertionError("there is no such number")


def footer_places(content):
    size = int.from_bytes(content[-8:-4], "little")
    return range(len(content) - 8 - size, len(content) - 8)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_page_of_another_type_rejects_its_row_group(layout):
    """pyarrow skips such pages, so that rows vanish, or values of a column move to other rows."""
    content = write_group(**LAYOUTS[layout])
    assert samples.read(content, "a.parquet") == GOOD
    for chunk in chunks_of(content, 1):
        page = data_pages(content, chunk)[0]
        found = samples.read(change_byte(content, page + 1, 2), "a.parquet")  # of an index
        assert samples.calls(found) == GOOD[:GROUP] + GOOD[2 * GROUP :]
        (lost,) = samples.rejected_of(found)
        assert "has a page of an unknown type" in lost.reason
        assert lost.position == "row group 1, row 0"
        assert lost.at_least
        assert 1 <= lost.records <= GROUP


@pytest.mark.parametrize("rows", [0, 4, 61])
def test_another_number_of_rows_in_the_footer_rejects_the_row_group(rows):
    content = write_group(group=len(ROWS))

    def is_right(one):
        (group,) = read_footer(io.BytesIO(one))
        return group.rows == rows

    content = with_other_number(content, footer_places(content), len(ROWS), rows, is_right)
    (lost,) = samples.read(content, "a.parquet")
    assert f"values instead of {rows}" in lost.reason
    assert lost.at_least
    assert lost.records == max(1, min(rows, len(ROWS)))


def test_columns_in_one_list_must_have_as_many_values():
    """The page and the footer agree that one column of results has one value less."""
    content = write_group(codec="none", use_dictionary=False)
    path = "results.list.element.score"
    index = column_index(content, path)
    chunk = chunks_of(content, 0)[index]
    (page,) = data_pages(content, chunk)

    def in_page(one):
        header, _ = read_struct(one[page:])
        return header[DATA_HEADER][VALUES] == chunk.values - 1

    def in_footer(one):
        return chunks_of(one, 0)[index].values == chunk.values - 1

    less = chunk.values, chunk.values - 1
    content = with_other_number(content, range(page, page + 50), *less, in_page)
    content = with_other_number(content, footer_places(content), *less, in_footer)
    found = samples.read(content, "a.parquet")
    assert samples.calls(found) == GOOD[GROUP:]
    (lost,) = samples.rejected_of(found)
    assert f"the column {path} has {less[1]} values instead of {less[0]}" in lost.reason
    assert lost.at_least


def test_a_page_that_does_not_fit_its_checksum_is_rejected():
    plain = {"codec": "none", "use_dictionary": False, "write_statistics": False}
    content = write_group(**plain, write_page_checksum=True)
    place = content.index(b"https://contoso.com")
    found = samples.read(change_byte(content, place, ord("x")), "a.parquet")
    assert samples.calls(found) == GOOD[GROUP:]
    (lost,) = samples.rejected_of(found)
    assert "CRC checksum verification failed" in lost.reason
    assert lost.records == GROUP


def test_a_damaged_file_of_a_pool_is_refused():
    content = write_group(group=len(ROWS))
    page = data_pages(content, chunks_of(content, 0)[0])[0]
    content = change_byte(content, page + 1, 2)
    with pytest.raises(GoodGainError, match="has a page of an unknown type"):
        list(read_documents("pool.parquet", lambda _: io.BytesIO(content), MemoryBudget(None)))
