import signal
from types import SimpleNamespace

import pytest

from goodgain.pipeline.run.stream import prism
from goodgain.transforms.stream_end import StoppableEnd


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_requests_a_stop_and_the_second_interrupts(number):
    end = StoppableEnd()
    with prism._stop_on_signals(end):
        signal.raise_signal(number)
        assert end.is_stop_requested()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)


def test_signal_handlers_are_restored_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with prism._stop_on_signals(StoppableEnd()):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_while_the_job_is_submitted_does_not_stop_the_engine():
    stopped = []
    server = SimpleNamespace(start=lambda: "localhost:1", stop=lambda: stopped.append(1))
    end = StoppableEnd()
    with prism._stop_on_signals(end):
        assert prism.StopOnExit(server).start() == "localhost:1"
        signal.raise_signal(signal.SIGINT)
    assert end.is_stop_requested()
    assert not stopped
