import signal

import pytest

from goodgain.pipeline.run.stream import on_prism
from goodgain.pipeline.run.stream.stopping import THIS_PROCESS


@pytest.fixture(autouse=True)
def no_stop_requested():
    THIS_PROCESS.reset()
    yield
    THIS_PROCESS.reset()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_requests_a_stop_and_the_second_interrupts(number):
    with on_prism._stopped_by_signals():
        signal.raise_signal(number)
        assert THIS_PROCESS.is_stop_requested()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)


def test_signal_handlers_are_restored_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with on_prism._stopped_by_signals():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
