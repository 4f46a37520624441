"""What a stream may still emit while it stops."""

import pickle

import pytest
from apache_beam.internal import pickler

from goodgain.transforms.stream_end import WITH_ENGINE, StoppableEnd


@pytest.mark.parametrize("end", [StoppableEnd(), WITH_ENGINE])
def test_before_a_stop_every_deadline_is_due(end):
    assert not end.is_stop_requested()
    assert end.is_due(2**62)


def test_while_draining_only_deadlines_up_to_the_watermark_are_due():
    end = StoppableEnd()
    end.begin_draining(1_000)
    assert [end.is_due(deadline) for deadline in (999, 1_000, 1_001)] == [True, True, False]


def test_pickled_copies_are_the_same_object():
    ends = [StoppableEnd(), StoppableEnd()]
    for end in ends:
        assert pickle.loads(pickle.dumps(end)) is end
        assert pickler.loads(pickler.dumps(end)) is end


def test_streams_of_one_process_are_stopped_one_by_one():
    one, other = StoppableEnd(), StoppableEnd()
    one.request_stop()
    assert pickle.loads(pickle.dumps(one)).is_stop_requested()
    assert not other.is_stop_requested()


def test_a_stream_that_ends_with_its_engine_ignores_draining():
    WITH_ENGINE.begin_draining(1_000)
    assert WITH_ENGINE.is_due(1_001)
