"""Scoring with a pool through Beam: batch and stream agree with the core (SPEC 9)."""

from random import Random

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from msgspec.structs import replace

from goodgain.transforms.core.pool.files import PoolUse
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.means import GlobalMeans
from goodgain.transforms.windowed_means import WindowedMeans
from tests.core.direct import scoring
from tests.core.pool import direct
from tests.core.pool.generated import runs
from tests.transforms.streams import CENTURY, Script, at, batch_scores, play


@pytest.fixture
def world(tmp_path):
    """The records of a run, the settings to score it with a pool, and its scores by the core."""
    found = next(one for seed in range(99) if len(one := runs(Random(seed))) == 3)
    name = sorted(found)[0]
    records = [
        {**record, "timestamp": at(minute), "is_final": False, "iteration": minute + 1}
        for minute, record in enumerate(found[name])
    ]
    built = direct.build({**found, name: records}, "topic")
    files = direct.write_pools(tmp_path, built)
    settings = scoring(per_call=True, pool=PoolUse(files, "topic", name))
    expected = direct.score(records, built, name, per_call=True)
    return records, settings, list(expected.values())


def test_batch_gives_the_scores_of_the_core(world):
    records, settings, expected = world
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        scores = batch_scores(pipeline, list(map(parse_mapping, records)), settings)
        assert_that(scores, equal_to(expected))


@pytest.mark.slow
def test_a_stream_gives_the_scores_of_the_core(world):
    records, settings, expected = world
    script = Script()
    for record in records:
        script.arrive(parse_mapping(record))
    given = play(script, Closing(), settings)
    assert given["late"] == []
    plain = [replace(score, closed=None) for _, score in given["scores"]]
    assert sorted(map(repr, plain)) == sorted(map(repr, expected))
    assert all(row["pool_recall_at_i"] is not None for score in plain for row in score.iterations)


@pytest.mark.slow
def test_means_of_windows_equal_those_of_batch_with_a_pool(world):
    records, settings, _ = world
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        scores = batch_scores(pipeline, list(map(parse_mapping, records)), settings)
        means = scores | GlobalMeans(settings)
        panes = scores | WindowedMeans(settings, Closing(), window=CENTURY)
        last = panes.rows | beam.Filter(lambda one: one.is_last) | beam.Map(lambda one: one.row)
        both = (
            {"batch": means | "a" >> beam.Map(key_row), "stream": last | "b" >> beam.Map(key_row)}
            | beam.CoGroupByKey()
            | beam.Map(
                lambda one: (one[0][0].startswith("pool"), one[1]["batch"] == one[1]["stream"])
            )
            | beam.Distinct()
        )
        assert_that(both, equal_to([(True, True), (False, True)]))


def key_row(row):
    return (row.metric, row.i, row.population), row
