"""What each name of an engine stands for, and what is refused before anything runs."""

import pytest
from apache_beam.options.pipeline_options import DirectOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner, worker_handlers

from pipeline import runners
from transforms.core.errors import UsageError


@pytest.mark.parametrize("name", ["DirectRunner", "FnApiRunner"])
def test_the_default_is_the_engine_that_is_always_there(name, monkeypatch):
    monkeypatch.setattr(worker_handlers, "STATE_CACHE_SIZE_MB", 100)
    engine, options = runners.create(name, ["--direct_num_workers=3"])
    assert type(engine) is FnApiRunner
    assert options.view_as(DirectOptions).direct_num_workers == 3
    assert worker_handlers.STATE_CACHE_SIZE_MB == 0


@pytest.mark.parametrize("name", ["PrismRunner", "FlinkRunner"])
def test_an_engine_gets_the_options_that_keep_its_state_safe(name):
    (needed,) = runners.ENGINES[name].arguments
    option, _, value = needed.removeprefix("--").partition("=")
    for given in ([], [needed], ["--job_name=mine"]):
        _, options = runners.create(name, given)
        found = options.get_all_options(retain_unknown_options=True)[option]
        assert found == [value] if value else found is True


def test_experiments_of_the_user_are_kept():
    _, options = runners.create("PrismRunner", ["--experiments=mine"])
    assert set(options.get_all_options()["experiments"]) == {"mine", "prism_disable_sdf_split"}


def test_an_unknown_engine_is_refused():
    with pytest.raises(UsageError, match="Runner Spork is not known; give one of DirectRunner"):
        runners.create("Spork", [])


def test_an_option_that_no_engine_here_knows_is_refused():
    with pytest.raises(UsageError, match="--direct_num_worker is no option"):
        runners.create("DirectRunner", ["--direct_num_worker", "2"])


def test_an_engine_elsewhere_may_know_more_options():
    _, options = runners.create("FlinkRunner", ["--one_more=3"])
    assert options.get_all_options(retain_unknown_options=True)["one_more"] == "3"


def test_a_value_of_the_wrong_kind_is_refused():
    with pytest.raises(UsageError, match="argument --direct_num_workers: invalid int value: 'x'"):
        runners.create("DirectRunner", ["--direct_num_workers=x"])
