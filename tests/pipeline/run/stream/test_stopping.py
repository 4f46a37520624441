"""What a stream may still emit while it stops."""

import pickle

import pytest
from apache_beam.internal import pickler

from goodgain.pipeline.run.stream.stopping import THIS_PROCESS
from goodgain.transforms.stream_end import WITH_ENGINE


@pytest.fixture(autouse=True)
def _no_stop_afterwards():
    yield
    THIS_PROCESS.reset()


@pytest.mark.parametrize("end", [THIS_PROCESS, WITH_ENGINE])
def test_before_a_stop_every_deadline_is_due(end):
    assert not end.is_stop_requested()
    assert end.is_due(2**62)


def test_while_draining_only_deadlines_up_to_the_watermark_are_due():
    THIS_PROCESS.begin_draining(1_000)
    due = [THIS_PROCESS.is_due(deadline) for deadline in (999, 1_000, 1_001)]
    assert due == [True, True, False]


def test_reset_forgets_the_stop():
    THIS_PROCESS.request_stop()
    THIS_PROCESS.begin_draining(1_000)
    THIS_PROCESS.reset()
    assert not THIS_PROCESS.is_stop_requested()
    assert THIS_PROCESS.is_due(1_001)


def test_pickled_copies_are_the_same_object():
    assert pickle.loads(pickle.dumps(THIS_PROCESS)) is THIS_PROCESS
    assert pickler.loads(pickler.dumps(THIS_PROCESS)) is THIS_PROCESS


def test_a_stream_that_ends_with_its_engine_ignores_draining():
    WITH_ENGINE.begin_draining(1_000)
    assert WITH_ENGINE.is_due(1_001)
