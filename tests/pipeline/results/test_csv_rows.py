"""Tables for people: no value is an empty cell, and no text is calculated."""

import csv
import io

from goodgain.pipeline.results.csv_rows import write_csv
from goodgain.pipeline.results.datasets import Column, Dataset

DATASET = Dataset(
    "any",
    "",
    (
        Column("name", "text", "", nullable=True),
        Column("slice", "map", ""),
        Column("count", "whole", ""),
        Column("mean", "number", "", nullable=True),
        Column("at", "time", "", nullable=True),
    ),
)


def table(*rows):
    file = io.BytesIO()
    write_csv(DATASET, rows, file)
    assert not file.closed
    return file.getvalue().decode()


def row(**cells):
    return {"name": None, "slice": {}, "count": 0, "mean": None, "at": None} | cells


def test_cells_of_each_kind():
    written = table(
        row(name='é, "x"', slice={"b": "2", "a": "1"}, count=-3, mean=0.1, at=1_500),
        row(),
    )
    assert list(csv.reader(io.StringIO(written))) == [
        ["name", "slice", "count", "mean", "at"],
        ['é, "x"', '{"a":"1","b":"2"}', "-3", "0.1", "1970-01-01T00:00:01.500+00:00"],
        ["", "{}", "0", "", ""],
    ]


def test_texts_that_spreadsheets_would_calculate_are_quoted():
    cells = ["=1+1", "+49 30", "-x", "@sum", "a=b"]
    lines = table(*(row(name=text) for text in cells)).splitlines()[1:]
    assert [line.partition(",")[0] for line in lines] == ["'=1+1", "'+49 30", "'-x", "'@sum", "a=b"]
