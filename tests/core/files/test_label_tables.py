"""Rows of CSV files of labels that do not fit their header are rejected, with their line."""

import io

from goodgain.transforms.core.files.input_formats import CSV
from goodgain.transforms.core.files.labels import LabelTable
from goodgain.transforms.core.files.side_table import SideFile, read_rows
from goodgain.transforms.core.files.tables import TableFile
from goodgain.transforms.core.records.rejection import RejectedRecord


def read(text):
    """The ranks of labels in a CSV file, and the reasons for rejected rows by their position."""
    file = SideFile(TableFile("labels.csv", CSV), len(text), 0)
    found = list(read_rows(file, lambda _: io.BytesIO(text.encode()), LabelTable()))
    rejected = [label for label in found if isinstance(label, RejectedRecord)]
    ranks = [label.rank for label in found if label is not None and label not in rejected]
    return ranks, {row.position: row.reason for row in rejected}


def test_rows_that_do_not_fit_their_header_are_rejected():
    assert read(
        "\nrecord_id, rank ,gain,note\nr,1,3,a, comma\nr,2\nr,3,2,empty,,\nr,4,2\nr,5,,\n,,\n"
    ) == (
        [3, 4],
        {
            "line 3": "The row has more cells than the header has names.",
            "line 4": "The row has fewer cells than the header has names.",
        },
    )


def test_an_open_quotation_mark_ends_reading_with_its_line():
    for rest in ("", 'r,4,1,"closed"\n'):
        ranks, rejected = read(f'record_id,rank,gain,note\nr,1,1,x\nr,2,1,"open\nr,3,1,\n{rest}')
        assert ranks == [1]
        ((position, reason),) = rejected.items()
        assert position == "line 3"
        assert "in the row of line 3; check its quotation marks" in reason
