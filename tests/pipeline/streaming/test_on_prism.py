import signal

import pytest

from goodgain.pipeline.streaming import on_prism
from goodgain.pipeline.streaming.stopping import THIS_PROCESS


@pytest.fixture(autouse=True)
def nobody_asked():
    THIS_PROCESS.reset()
    yield
    THIS_PROCESS.reset()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_for_an_end_and_the_second_ends_at_once(number):
    with on_prism._stopped_by_signals():
        signal.raise_signal(number)
        assert THIS_PROCESS.is_stop_requested()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)


def test_afterwards_signals_do_what_they_did():
    before = signal.getsignal(signal.SIGINT)
    with on_prism._stopped_by_signals():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
