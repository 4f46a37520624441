"""The progress of a run on the terminal."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from goodgain import evaluate
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.inputs import progress
from goodgain.pipeline.inputs.progress import progress_text
from tests.pipeline.convert.importing import FIXTURES
from tests.pipeline.runs import SAMPLE, run

COUNTED = "1,234 records, 56 conversations, 7 rejected"
CONVERSATION = "ff2df479-f534-3589-5715-e372eec86e5d"
SEEN = {"records.read": 1_234, "conversations.total": 56, "records.rejected": 7}


@pytest.mark.parametrize(
    ("read", "planned", "text"),
    [
        (0, 0, COUNTED),
        (0, 400, COUNTED),
        (100, 400, f"25 % read, about 1:30 left to read; {COUNTED}"),
        (300, 400, f"75 % read, about 0:10 left to read; {COUNTED}"),
        (400, 400, f"100 % read; {COUNTED}"),
        (500, 400, f"100 % read; {COUNTED}"),  # the engine has read a part twice
    ],
)
def test_shows_percent_and_time_left(read, planned, text):
    assert progress_text({**SEEN, "bytes.read": read}, planned, 30) == text


def test_uses_the_singular():
    seen = {**SEEN, "bytes.read": 0, "records.read": 1, "conversations.total": 1}
    assert progress_text(seen, 0, 30) == "1 record, 1 conversation, 7 rejected"


def test_a_command_that_only_reads_shows_no_conversations():
    assert progress_text({**SEEN, "conversations.total": 0, "bytes.read": 0}, 0, 30) == (
        "1,234 records, 7 rejected"
    )


SPANS = str(FIXTURES / "otlp_gen_ai.jsonl")
RUN = "".join(f"q{at} Q0 d{at} 1 1.0 t\n" for at in range(1_000))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["validate", SAMPLE], SAMPLE),
        (["explain", CONVERSATION, "--input", SAMPLE], SAMPLE),
        (["convert", "--from-traces", SAMPLE, "--to-run", "OUT/run"], SAMPLE),
        (["convert", "--from-run", "OUT/trec", "--to-traces", "OUT/traces.jsonl"], "OUT/trec"),
        (["convert", "--from", "otlp", SPANS, "--output", "OUT/traces.jsonl"], SPANS),
        (["pool", "build", "--run", f"one={SAMPLE}", "--output", "OUT/pool"], SAMPLE),
    ],
    ids=lambda words: " ".join(words[:2]) if isinstance(words, list) else "",
)
def test_commands_that_read_files_know_how_much_is_left(words, read, tmp_path, monkeypatch):
    (tmp_path / "trec").write_text(RUN)
    read, *words = (word.replace("OUT", str(tmp_path)) for word in (read, *words))
    planned, shown = [], progress.show_progress

    def spy(planned_bytes=0, *args, **options):
        planned.append(planned_bytes)
        return shown(planned_bytes, *args, **options)

    monkeypatch.setattr(progress, "show_progress", spy)
    assert main(words) == 0
    assert planned == [Path(read).stat().st_size]
    assert progress._seen["bytes.read"] >= planned[0]


@pytest.mark.slow
def test_all_planned_bytes_are_read(tmp_path, monkeypatch):
    read, shown = [], progress.show_progress

    @contextmanager
    def spy(*args, **options):
        with shown(*args, **options):
            yield
        read.append(progress._seen["bytes.read"])

    monkeypatch.setattr(progress, "show_progress", spy)
    evaluate(SAMPLE)
    assert run(tmp_path / "out", [SAMPLE]) == 0
    assert read == [Path(SAMPLE).stat().st_size] * 2
