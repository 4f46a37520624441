"""Payloads of a conversation are grouped, through the shuffle or through files."""

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.gather import GatheredDoFn, GatherPayloads, SpillPayloads

PAYLOADS = [("a", b"1"), ("b", b""), ("a", b"22"), ("c", b"3" * 100_000), ("a", b"1")]


def spill(folder, payloads):
    """Write the payloads of one bundle, and return their places by key."""
    step = SpillPayloads(str(folder))
    step.start_bundle()
    places = [place for keyed in payloads for place in step.process(keyed)]
    step.finish_bundle()
    return places


@pytest.fixture
def read(tmp_path):
    step = GatheredDoFn(str(tmp_path))
    yield lambda *places: list(step.payloads(places))
    step.teardown()


class Sorted(GatheredDoFn):
    def process(self, grouped):
        key, gathered = grouped
        yield key, sorted(self.payloads(gathered))


@pytest.mark.parametrize("through_files", [False, True])
@pytest.mark.parametrize("bundle_repeat", [0, 1])
def test_all_payloads_of_a_key_are_grouped(tmp_path, through_files, bundle_repeat):
    folder = str(tmp_path) if through_files else ""
    with beam.Pipeline(runner=FnApiRunner(bundle_repeat=bundle_repeat)) as pipeline:
        gathered = (
            pipeline
            | beam.Create(PAYLOADS).with_output_types(tuple[str, bytes])
            | GatherPayloads(folder)
            | beam.ParDo(Sorted(folder))
        )
        expected = [("a", [b"1", b"1", b"22"]), ("b", [b""]), ("c", [b"3" * 100_000])]
        assert_that(gathered, equal_to(expected))
    assert any(tmp_path.iterdir()) == through_files


def test_places_of_spilled_payloads_are_small(tmp_path):
    places = spill(tmp_path, PAYLOADS)
    assert [key for key, _ in places] == [key for key, _ in PAYLOADS]
    assert {len(place) for _, place in places} == {28}


def test_each_bundle_has_its_own_file(tmp_path, read):
    first = spill(tmp_path, [("a", b"first")])
    second = spill(tmp_path, [("a", b"second")])
    places = [place for _, place in [*second, *first, *second]]
    assert read(*places) == [b"second", b"first", b"second"]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_bundle_without_payloads_leaves_no_file(tmp_path):
    assert spill(tmp_path, []) == []
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_file_ends_the_run(tmp_path, read):
    ((_, place),) = spill(tmp_path, [("a", b"payload")])
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"payloa")
    with pytest.raises(GoodGainError, match=f"{file} was truncated during the run"):
        read(place)
