import io
import logging

import pytest
from msgspec import structs

from goodgain.pipeline.document.terminal import text_of
from goodgain.pipeline.run.stream.counter import StreamCounter
from goodgain.pipeline.run.stream.prism import engine_log
from goodgain.pipeline.run.stream.stream_counts import StreamCounts
from goodgain.pipeline.views import stream_progress
from goodgain.transforms.core.warnings.warning import DataWarning
from tests.pipeline.run.stream.rows import MINUTE, NOON
from tests.pipeline.runs import plain_scoring

FIGURES = StreamCounts(
    read=12_345,
    open=20,
    closed=1_500,
    late=3,
    rejected=4,
    means={"CG": 7.25, "SRE": 0.5},
    watermark=NOON,
)
EMPTY = StreamCounts()


def test_the_line_has_counts_watermark_and_means():
    assert stream_progress.line(FIGURES, NOON + 90 * MINUTE) == (
        "12,345 records, 20 open, 1,500 closed, 3 late, 4 rejected; "
        "watermark 2025-03-02 12:00:00, 1h30m behind the clock; "
        "means Gain (CG) 7.250, Good and new results (SRE) 50.0 %"
    )


def test_one_record_is_singular():
    line = stream_progress.line(structs.replace(EMPTY, read=1), NOON)
    assert line.startswith("1 record, 0 open")


def test_warnings_are_shown_after_the_means():
    with_warning = structs.replace(FIGURES, warnings=[DataWarning("odd_times", 3, None, "", "")])
    assert stream_progress.line(with_warning, NOON).endswith("(SRE) 50.0 %; warnings odd_times")
    assert "warnings odd_times" in text_of(stream_progress.view(with_warning, NOON))


def test_before_any_record_there_is_no_watermark_and_no_mean():
    assert stream_progress.line(EMPTY, NOON) == (
        "0 records, 0 open, 0 closed, 0 late, 0 rejected; no watermark yet"
    )


@pytest.mark.parametrize("watermark", [-(10**15), 10**18])
def test_a_watermark_out_of_range_is_shown_in_ms(watermark):
    assert f"watermark {watermark} ms" in stream_progress.line(
        StreamCounts(watermark=watermark), NOON
    )


def test_the_terminal_view_shows_the_same():
    shown = text_of(stream_progress.view(FIGURES, NOON + 90 * MINUTE))
    for text in ("12,345", "1,500", "1h30m behind", "7.250", "(SRE)", "50.0 %", "rejected"):
        assert text in shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_warnings_of_the_source_are_shown_but_not_those_of_the_engine(tmp_path, kind):
    stream = kind()
    with (
        stream_progress.show_progress(StreamCounter(plain_scoring()), stream),
        engine_log(tmp_path / "log"),
    ):
        logging.getLogger("goodgain.transforms.sources.folder_watch").warning(
            "The folder [in] cannot be listed."
        )
        logging.getLogger("apache_beam").warning("A bundle was split.")
    assert stream.getvalue().count("goodgain: The folder [in] cannot be listed.") == 1
    assert "bundle" not in stream.getvalue()
    assert not logging.getLogger("goodgain.transforms").handlers
