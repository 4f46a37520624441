"""`stream`: the plan that it passes on, its warnings, and what it does to the output folder."""

import json

import pytest

from goodgain.pipeline.results.datasets import LATE
from goodgain.pipeline.run.stream.pane_files import write_pane
from goodgain.pipeline.run.stream.panes import Pane
from goodgain.pipeline.run.stream.run import warn_of_names
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.errors import GoodGainError, UsageError
from tests.core.direct import scoring
from tests.pipeline.run.stream.rows import MINUTE, NOON

DAY = 1440 * MINUTE
TODAY = NOON // DAY * DAY


def test_limits_for_open_conversations_are_passed_on(plan_of):
    closing = plan_of(max_open="2h", max_open_results=7, max_open_bytes=900).closing
    assert closing.max_open == 120 * MINUTE
    assert (closing.max_open_results, closing.max_open_bytes) == (7, 900)


def test_unknown_fields_are_named_when_a_stream_starts(tmp_path, capsys):
    record = {"conversation_id": "c", "iteration": 1, "results": [{"relevance": 3}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "_b.jsonl").write_text('{"elsewhere": 1}\n')
    config = StreamConfig(input=str(tmp_path), output="-")
    warn_of_names(config, scoring())
    warning = capsys.readouterr().err
    assert "results[].relevance (gain?)" in warning
    assert "elsewhere" not in warning
    warn_of_names(config.model_copy(update={"mapping": ("gain=relevance",)}), scoring())
    assert capsys.readouterr().err == ""


@pytest.fixture
def earlier(tmp_path):
    """Files of an earlier stream, of yesterday, today and tomorrow; returns those that exist."""
    (tmp_path / "out" / "late").mkdir(parents=True)
    for days in (-1, 0, 1):
        name = Pane(TODAY + days * DAY, 0, 1, 0, "a").file_name(".avro")
        (tmp_path / "out" / "late" / name).touch()
    (tmp_path / "out" / "engine.log").touch()

    def days():
        names = (path.name for path in (tmp_path / "out").glob("late/part-*"))
        return sorted(int(name[11:13]) for name in names)

    assert days() == [1, 2, 3]
    return days


def nothing(_):
    pass


def test_the_outputs_of_an_earlier_stream_are_not_overwritten(earlier, start_stream):
    with pytest.raises(UsageError, match="is not empty"):
        start_stream(nothing)
    with pytest.raises(UsageError, match="is not empty"):
        start_stream(nothing, since="2025-03-02")
    assert earlier() == [1, 2, 3]


def test_overwrite_replaces_the_outputs_of_an_earlier_stream(earlier, start_stream):
    start_stream(nothing, overwrite=True)
    assert earlier() == []


@pytest.mark.parametrize("since", ["2025-03-02", "2025-03-02T23:59", "2025-03-03T01:00+02:00"])
def test_with_since_earlier_windows_stay(earlier, start_stream, since):
    start_stream(nothing, overwrite=True, since=since)
    assert earlier() == [1]


def test_with_since_all_rows_of_outcomes_are_reported_anew(earlier, tmp_path, start_stream):
    folder = tmp_path / "out" / "rejected_outcomes"
    folder.mkdir()
    for window in (None, TODAY - DAY):
        (folder / Pane(window, 0, 1, 0, "a").file_name(".avro")).touch()
    start_stream(nothing, overwrite=True, since="2025-03-02")
    assert earlier() == [1]
    assert not list(folder.iterdir())


def test_no_hidden_folder_stays_behind(tmp_path, start_stream):
    """Each file of a pane is moved out of it, which left its folders."""

    def write(plan):
        write_pane(plan.target, Pane(NOON, 0, 1, 0, "a"), LATE, [])

    start_stream(write)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["late"]

    def fail(plan):
        write(plan)
        raise GoodGainError("The stream failed.")

    with pytest.raises(GoodGainError, match="failed"):
        start_stream(fail, overwrite=True)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["late"]


def test_outcomes_are_those_of_the_file(tmp_path, plan_of):
    judged = tmp_path / "judged.csv"
    judged.write_text("conversation_id,correct,confidence\na,true,0.5\n")
    plan = plan_of(outcomes=str(judged))
    assert [file.table.path for file in plan.outcomes.files] == [str(judged)]
    assert list(map(str, plan.scoring.outcomes)) == ["confidence", "correct"]


def test_a_file_without_outcomes_is_refused(tmp_path, plan_of):
    judged = tmp_path / "judged.csv"
    judged.write_text("id,correct\na,true\n")
    with pytest.raises(UsageError, match=r"judged\.csv has no outcomes \(--outcomes\); line "):
        plan_of(outcomes=str(judged))


@pytest.mark.parametrize("more", [{}, {"since": "2025-03-02"}])
def test_a_stream_does_not_replace_the_outputs_of_a_run(tmp_path, start_stream, more):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_text("{}")
    with pytest.raises(UsageError, match="holds the outputs of a run, which a stream does not"):
        start_stream(nothing, overwrite=True, **more)
    assert (tmp_path / "out" / "manifest.json").exists()


def test_files_that_no_stream_wrote_are_not_deleted(tmp_path, start_stream):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.docx").touch()
    for more in ({}, {"since": "2025-03-02"}):
        with pytest.raises(UsageError, match=r"holds thesis\.docx"):
            start_stream(nothing, overwrite=True, **more)
