"""What `goodgain stream` refuses, in one sentence and before anything is made or run."""

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.engines import runners
from goodgain.pipeline.options.config_file import load_config
from goodgain.pipeline.outputs.lock import locked
from goodgain.pipeline.streaming.checkpoint import KEPT
from goodgain.pipeline.streaming.config import StreamConfig
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.test_lock import START

NEEDED = {"input": "in", "output": "out"}


@pytest.fixture
def incoming(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


@pytest.fixture
def no_engine(tmp_path, monkeypatch):
    """Prism as far as it is looked for; nothing here comes to run it."""
    prism = tmp_path / "prism"
    prism.touch()
    monkeypatch.setattr(runners, "BUILT_PRISM", prism)


def said(capsys, *words):
    """What the command says on stderr when it is refused."""
    code = main(["stream", *map(str, words)])
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert captured.err.startswith("goodgain: ")
    return captured.err


class TestOptions:
    def test_only_input_and_output_are_required(self):
        config = load_config(StreamConfig, NEEDED)
        assert (config.gap, config.allowed_lateness, config.window) == (
            1_800_000,
            3_600_000,
            86_400_000,
        )
        assert config.runner == "PrismRunner"

    def test_a_file_can_hold_them(self, tmp_path):
        path = tmp_path / "stream.yaml"
        path.write_text("gap: 5m\nlive: true\nslice: [arm]\n")
        config = load_config(StreamConfig, {**NEEDED, "gap": "10m"}, str(path))
        assert (config.gap, config.live, config.slice) == (600_000, True, (("arm",),))

    def test_the_shipped_example_is_one(self):
        load_config(StreamConfig, NEEDED, "configs/stream.yaml")

    def test_all_mistakes_are_told_at_once(self, tmp_path):
        path = tmp_path / "stream.yaml"
        path.write_text("gap: 30\nqrels: q.txt\nwindow: 0s\n")
        with pytest.raises(UsageError) as caught:
            load_config(StreamConfig, {**NEEDED, "shards": "0"}, str(path))
        message = str(caught.value)
        assert f"{path}:1: gap must be a duration like 30m" in message
        assert f"{path}:2: qrels is not an option" in message
        assert f"{path}:3: window must be longer than 0" in message
        assert "--shards" in message

    def test_no_clock_closes_everybody_elses_conversation(self):
        with pytest.raises(UsageError, match="--ahead must be at most the gap, 10m"):
            load_config(StreamConfig, {**NEEDED, "gap": "10m", "ahead": "11m"})

    def test_what_rows_mean_is_the_same_in_every_start(self):
        config = load_config(StreamConfig, {**NEEDED, "flush": "1s", "format": "jsonl"})
        assert config.meaning == load_config(StreamConfig, NEEDED).meaning
        other = load_config(StreamConfig, {**NEEDED, "metrics": "map"})
        assert config.meaning != other.meaning


class TestRefusals:
    @pytest.mark.parametrize("runner", ["DirectRunner", "FnApiRunner"])
    def test_engines_that_cannot_stream(self, runner, incoming, tmp_path, capsys):
        words = ("--input", incoming, "--output", tmp_path / "out", "--runner", runner)
        assert "cannot run a stream" in said(capsys, *words)
        assert "Use --runner PrismRunner" in said(capsys, *words)

    @pytest.mark.usefixtures("no_engine")
    def test_a_folder_that_is_not_there(self, tmp_path, capsys):
        words = ("--input", tmp_path / "nothing", "--output", tmp_path / "out")
        assert "nothing is not a folder; create it, or check the path." in said(capsys, *words)
        assert not (tmp_path / "out").exists()

    @pytest.mark.usefixtures("no_engine")
    def test_outputs_among_inputs(self, incoming, capsys):
        words = ("--input", incoming, "--output", incoming)
        assert "Input and output are both" in said(capsys, *words)

    @pytest.mark.usefixtures("no_engine")
    def test_topics_on_an_engine_that_reads_none(self, tmp_path, capsys):
        words = ("--input", "kafka://localhost:1/t", "--output", tmp_path / "out")
        assert "use --runner FlinkRunner or DataflowRunner" in said(capsys, *words)

    @pytest.mark.usefixtures("no_engine")
    def test_two_streams_into_one_folder(self, incoming, tmp_path, capsys):
        kept = tmp_path / "out" / KEPT
        kept.mkdir(parents=True)
        with locked(kept, START):
            code = main(["stream", "--input", str(incoming), "--output", str(tmp_path / "out")])
        assert code == 1
        assert "Another job is writing to" in capsys.readouterr().err

    def test_a_source_of_no_kind(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(runners, "_answers", lambda host, port: True)
        words = ("--input", "amqp://a/b", "--output", tmp_path / "out", "--runner", "FlinkRunner")
        flink = ("--job_endpoint=localhost:1", "--environment_type=LOOPBACK")
        assert "amqp://a/b cannot be streamed" in said(capsys, *words, *flink)
