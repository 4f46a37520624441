import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.pipeline.run.stream.panes import Pane, find_dated_window, pane_of

FIRST, LAST = -62_135_596_800_000, 253_402_214_400_000  # years 1 and 9999
panes = st.builds(
    Pane,
    window=st.none() | st.integers(FIRST, LAST),
    shard=st.integers(0, 200_000),
    shards=st.integers(1, 200_000),
    number=st.integers(0, 2_000_000),
    attempt=st.text("0123456789abcdef", min_size=1, max_size=16),
)


def test_file_name_has_all_fields_of_the_pane():
    pane = Pane(window=1_740_960_000_000, shard=3, shards=8, number=17, attempt="0a9f")
    assert pane.file_name(".avro") == (
        "part-20250303T000000.000Z-00003-of-00008-pane-000017-0a9f.avro"
    )


@given(panes, st.sampled_from([".avro", ".parquet", ".jsonl"]))
def test_a_pane_is_read_back_from_its_file_name(pane, suffix):
    assert pane_of(pane.file_name(suffix)) == pane


@given(st.lists(panes, min_size=2, max_size=2, unique=True))
def test_different_panes_have_different_names(pair):
    assert pair[0].file_name(".avro") != pair[1].file_name(".avro")


@pytest.mark.parametrize("name", ["part-00000-of-00001.avro", "part-x.avro", "manifest.json"])
def test_other_file_names_have_no_pane(name):
    assert pane_of(name) is None


@pytest.mark.parametrize(
    ("event", "start"),
    [(0, 0), (999, 0), (1_000, 1_000), (-1, -1_000), (LAST + 86_400_000 * 2, None)],
)
def test_windows_are_aligned_to_1970(event, start):
    assert find_dated_window(event, 1_000) == start
