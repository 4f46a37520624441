"""Arrow columns hold what `pyarrow.array` makes of the same values, and give them back."""

import math
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.pipeline.results.arrow_columns import (
    ARROW_TYPES,
    arrow_column,
    choose_texts,
    python_values,
    whole_numbers,
)

WHOLE = st.integers(-(2**63), 2**63 - 1)
VALUES = {
    "text": st.text(),
    "whole": WHOLE,
    "number": st.floats(allow_nan=False),
    "time": WHOLE,
    "map": st.dictionaries(st.text(), st.text(), max_size=3),
    "flag": st.booleans(),
}


def test_every_kind_is_tried():
    assert VALUES.keys() == ARROW_TYPES.keys()


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
def test_equals_pyarrow(kind, data):
    values = data.draw(st.lists(st.none() | VALUES[kind], max_size=20))
    column = arrow_column(kind, values)
    column.validate(full=True)
    pairs = [list(value.items()) if isinstance(value, dict) else value for value in values]
    assert column.equals(pa.array(pairs, ARROW_TYPES[kind]))
    assert python_values(column) == values
    assert python_values(column.slice(len(values) // 2)) == values[len(values) // 2 :]


def test_keeps_what_is_not_a_number_apart_from_null():
    column = arrow_column("number", [1.0, math.nan, None])
    assert column.null_count == 1
    assert math.isnan(column[1].as_py())


@pytest.mark.parametrize(
    ("kind", "values", "error"),
    [
        ("whole", [2**63], OverflowError),
        ("whole", ["a"], ValueError),
        ("text", ["\ud800"], UnicodeEncodeError),
    ],
)
def test_refuses_what_does_not_fit(kind, values, error):
    with pytest.raises(error):
        arrow_column(kind, values)


def test_needs_neither_pandas_nor_kernels():
    """The import of pandas takes longer than scoring a small file."""
    code = (
        "import sys; import numpy as np; "
        "from goodgain.pipeline.results.arrow_columns import arrow_column, choose_texts; "
        "arrow_column('map', [{'a': 'b'}, None]); choose_texts(['a'], np.array([0]), None); "
        "assert not {'pandas', 'pyarrow.compute'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@given(st.lists(st.none() | WHOLE, max_size=20))
def test_whole_numbers(values):
    numbers = np.array([7 if value is None else value for value in values], np.int64)
    valid = np.array([value is not None for value in values], bool)
    column = whole_numbers(numbers, valid)
    column.validate(full=True)
    assert column.equals(arrow_column("whole", values))
    assert whole_numbers(numbers, None).equals(arrow_column("whole", numbers.tolist()))


@given(st.lists(st.none() | st.integers(0, 2), max_size=20))
def test_chosen_texts(indexes):
    texts = ["a", "", "\u00e9"]
    numbers = np.array([-1 if index is None else index for index in indexes], np.int64)
    column = choose_texts(texts, numbers, numbers >= 0)
    column.validate(full=True)
    expected = [None if index is None else texts[index] for index in indexes]
    assert column.equals(arrow_column("text", expected))
