"""The progress of a run on the terminal."""

from pathlib import Path

import pytest

from goodgain import evaluate
from goodgain.pipeline.terminal import progress
from goodgain.pipeline.terminal.progress import progress_text
from tests.pipeline.runs import SAMPLE, run

COUNTED = "1,234 records, 56 conversations, 7 rejected"
SEEN = {"records.read": 1_234, "conversations.total": 56, "records.rejected": 7}


@pytest.mark.parametrize(
    ("read", "planned", "text"),
    [
        (0, 0, COUNTED),
        (0, 400, COUNTED),
        (100, 400, f"25% read, about 1:30 left to read; {COUNTED}"),
        (300, 400, f"75% read, about 0:10 left to read; {COUNTED}"),
        (400, 400, f"100% read; {COUNTED}"),
        (500, 400, f"100% read; {COUNTED}"),  # the engine has read a part twice
    ],
)
def test_shows_percent_and_time_left(read, planned, text):
    assert progress_text({**SEEN, "bytes.read": read}, planned, 30) == text


def test_uses_the_singular():
    seen = {**SEEN, "bytes.read": 0, "records.read": 1, "conversations.total": 1}
    assert progress_text(seen, 0, 30) == "1 record, 1 conversation, 7 rejected"


def test_all_planned_bytes_are_read(tmp_path):
    size = Path(SAMPLE).stat().st_size
    evaluate(SAMPLE)
    assert progress._seen["bytes.read"] == size
    assert run(tmp_path / "out", [SAMPLE]) == 0
    assert progress._seen["bytes.read"] == size
