"""Options of `goodgain stream`, and what it refuses before anything is written or run."""

import json
import logging

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.lock import lock_output_folder
from goodgain.pipeline.run.engines import engine_checks
from goodgain.pipeline.run.stream import prism
from goodgain.pipeline.run.stream.counter import StreamCounter
from goodgain.pipeline.run.stream.stream_counts import StreamCounts
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.option_fields import flag_of
from goodgain.pipeline.settings.option_types import instant_text
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.warnings.warning import DataWarning
from tests.pipeline.cli.test_quiet import documented_keys

REQUIRED = {"input": "in", "output": "out"}


@pytest.fixture
def incoming(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


@pytest.fixture
def fake_prism(tmp_path, monkeypatch):
    """An empty file in place of Prism, which is looked for but not run."""
    built = tmp_path / "prism"
    built.touch()
    monkeypatch.setattr(engine_checks, "BUILT_PRISM", built)


def error_of(capsys, *words):
    """The error message of a command that is refused."""
    code = main(["stream", *map(str, words)])
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert captured.err.startswith("goodgain: ")
    return captured.err


def test_a_quiet_stream_ends_with_its_warnings(incoming, fake_prism, tmp_path, monkeypatch, capsys):
    warning = DataWarning("odd_times", 3, None, "3 records lie in 1970.", "Multiply them by 1,000.")
    counts = StreamCounts(warnings=[warning])
    monkeypatch.setattr(prism, "run", lambda *_: None)
    monkeypatch.setattr(StreamCounter, "now", lambda _: counts)
    words = ["stream", "--input", str(incoming), "--output", str(tmp_path / "out")]
    assert main([*words, "--quiet"]) == 0
    text = "Warning (odd_times): 3 records lie in 1970. Multiply them by 1,000.\n"
    assert capsys.readouterr() == ("", text)


def test_what_the_source_warns_of_is_shown_even_if_quiet(
    incoming, fake_prism, tmp_path, monkeypatch, capsys
):
    def run(plan, end, counter, options, log, watch):
        with watch(counter), prism.engine_log(log):
            logging.getLogger("goodgain.transforms.sources").warning("It cannot be listed.")

    monkeypatch.setattr(prism, "run", run)
    words = ["stream", "--input", str(incoming), "--output", str(tmp_path / "out")]
    assert main([*words, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "goodgain: It cannot be listed.\n")


@pytest.mark.parametrize("option", ["--quiet", "--json", "--live"])
def test_a_stream_ends_with_a_summary_a_document_or_nothing(
    option, incoming, fake_prism, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(prism, "run", lambda *_: None)
    words = ["stream", "--input", str(incoming), "--output", str(tmp_path / "out")]
    assert main([*words, option]) == 0
    printed = capsys.readouterr()
    if option == "--quiet":
        assert printed == ("", "")
    elif option == "--json":
        document = json.loads(printed.out)
        assert documented_keys("stream") == document.keys()
        assert document["records"]["read"] == 0
        assert document["means"] == []
    else:
        assert "Records: 0 read = 0 scored" in printed.out
        assert "Ctrl-C ends it" in printed.err


class TestOptions:
    def test_only_input_and_output_are_required(self):
        config = load_config(StreamConfig, REQUIRED)
        assert (config.gap, config.allowed_lateness, config.window) == (
            1_800_000,
            3_600_000,
            86_400_000,
        )
        assert config.runner == "PrismRunner"

    def test_options_can_be_in_a_file_and_arguments_override_it(self, tmp_path):
        path = tmp_path / "stream.yaml"
        path.write_text("gap: 5m\nlive: true\nslice: [arm]\n")
        config = load_config(StreamConfig, {**REQUIRED, "gap": "10m"}, str(path))
        assert (config.gap, config.live, config.slice) == (600_000, True, (("arm",),))

    def test_the_shipped_example_is_valid(self):
        load_config(StreamConfig, REQUIRED, "configs/stream.yaml")

    def test_all_mistakes_are_reported_at_once(self, tmp_path):
        path = tmp_path / "stream.yaml"
        path.write_text("gap: 30\nqrels: q.txt\nwindow: 0s\n")
        with pytest.raises(UsageError) as caught:
            load_config(StreamConfig, {**REQUIRED, "shards": "0"}, str(path))
        message = str(caught.value)
        assert f"{path}:1: gap must be a duration like 30m" in message
        assert f"{path}:2: qrels is not an option" in message
        assert f"{path}:3: window must be longer than 0" in message
        assert "--shards" in message

    def test_ahead_must_not_exceed_the_gap(self):
        with pytest.raises(UsageError, match=r"--ahead must be at most the gap \(--gap 10m\)"):
            load_config(StreamConfig, {**REQUIRED, "gap": "10m", "ahead": "11m"})

    @pytest.mark.parametrize(
        ("written", "window"),
        [
            ("2025-03-02", "2025-03-02T00:00:00Z"),
            ("2025-03-02 23:59:59.9", "2025-03-02T00:00:00Z"),
            ("2025-03-02T01:00:00+02:00", "2025-03-01T00:00:00Z"),
            ("1969-12-31T05:00Z", "1969-12-31T00:00:00Z"),
        ],
    )
    def test_since_is_rounded_down_to_the_start_of_a_window(self, written, window):
        config = load_config(StreamConfig, {**REQUIRED, "since": written})
        assert instant_text(config.since_window) == window

    def test_since_in_a_file_may_be_a_date(self, tmp_path):
        (tmp_path / "stream.yaml").write_text("since: 2025-03-02\n")
        config = load_config(StreamConfig, REQUIRED, str(tmp_path / "stream.yaml"))
        assert instant_text(config.since) == "2025-03-02T00:00:00Z"
        assert config.model_dump(mode="json")["since"] == "2025-03-02T00:00:00Z"

    @pytest.mark.parametrize("written", ["yesterday", "12:00", "2025-02-30", "1740916800"])
    def test_since_is_a_date_or_a_time(self, written):
        with pytest.raises(UsageError, match="--since must be a date or time like 2026-11-25"):
            load_config(StreamConfig, {**REQUIRED, "since": written})


ONLY_IN_RUNS = [
    flag_of(*named)
    for named in RunConfig.model_fields.items()
    if named[0] not in StreamConfig.model_fields
]


class TestRefusals:
    @pytest.mark.parametrize("option", ONLY_IN_RUNS)
    def test_an_option_of_runs_is_not_left_to_beam_which_would_ignore_it(self, option, capsys):
        message = error_of(capsys, "--input", "in", "--output", "out", f"{option}=5")
        assert message.startswith(f"goodgain: {option} is an option of `goodgain run`")

    @pytest.mark.parametrize("runner", ["DirectRunner", "FnApiRunner"])
    def test_engines_that_cannot_stream_are_refused(self, runner, incoming, tmp_path, capsys):
        words = ("--input", incoming, "--output", tmp_path / "out", "--runner", runner)
        assert "cannot run a stream" in error_of(capsys, *words)
        assert "Use --runner PrismRunner" in error_of(capsys, *words)

    @pytest.mark.usefixtures("fake_prism")
    def test_a_missing_input_folder_is_refused(self, tmp_path, capsys):
        words = ("--input", tmp_path / "nothing", "--output", tmp_path / "out")
        assert "nothing is not a folder: create it, or give that of the files." in error_of(
            capsys, *words
        )
        assert not (tmp_path / "out").exists()

    @pytest.mark.usefixtures("fake_prism")
    @pytest.mark.parametrize("metric", ["foo@10", "pool_recall", "none.py:mine"])
    def test_a_wrong_metric_leaves_no_folder(self, metric, incoming, tmp_path, capsys):
        place = tmp_path / "new" / "out"
        error_of(capsys, "--input", incoming, "--output", place, "--metrics", metric)
        assert not place.parent.exists()

    @pytest.mark.usefixtures("fake_prism")
    def test_the_input_folder_as_output_is_refused(self, incoming, capsys):
        words = ("--input", incoming, "--output", incoming)
        assert "Input and output are both" in error_of(capsys, *words)

    @pytest.mark.usefixtures("fake_prism")
    def test_kafka_on_an_engine_that_cannot_read_it_is_refused(self, tmp_path, capsys):
        words = ("--input", "kafka://localhost:1/t", "--output", tmp_path / "out")
        assert "use --runner FlinkRunner or DataflowRunner" in error_of(capsys, *words)

    @pytest.mark.usefixtures("fake_prism")
    def test_a_folder_that_another_stream_writes_to_is_refused(self, incoming, tmp_path, capsys):
        with lock_output_folder(str(tmp_path / "out")):
            code = main(["stream", "--input", str(incoming), "--output", str(tmp_path / "out")])
        assert code == 1
        assert "Another run is writing to" in capsys.readouterr().err

    def test_an_unknown_kind_of_source_is_refused(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(engine_checks, "_answers", lambda host, port: True)
        words = ("--input", "amqp://a/b", "--output", tmp_path / "out", "--runner", "FlinkRunner")
        flink = ("--job_endpoint=localhost:1", "--environment_type=LOOPBACK")
        assert "amqp://a/b cannot be streamed" in error_of(capsys, *words, *flink)
