import re
from datetime import date
from pathlib import Path

import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.studies.nightly.config import BaselineChoice, load_nightly_config
from goodgain.pipeline.studies.nightly.days.days import days_between, patterns_of, read_day
from goodgain.pipeline.studies.nightly.job import NightlyResult
from goodgain.pipeline.studies.nightly.night import run_config
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.studies.nightly.world import config_of

SHIPPED = Path(__file__).parents[4] / "configs/nightly.yaml"
MINIMAL = "input: t/{date}/*\noutput: nights\n"


def read(more):
    return config_of(MINIMAL + more)


def test_shipped_example_is_valid():
    config = load_nightly_config(str(SHIPPED))
    assert config.baseline == BaselineChoice(days=1)
    assert (config.run, config.gate) == ("goodgain:run", "goodgain:gate")


def test_engine_options_in_the_shipped_example_are_known_to_beam():
    text = SHIPPED.read_text()
    written = re.findall(r"^# (engine_options: .*)$", text, re.MULTILINE)
    assert len(written) == 2
    known = set(PipelineOptions([]).get_all_options())
    for line in written:
        config = read(line)
        given = PipelineOptions(list(config.engine_options))
        assert set(given.get_all_options(retain_unknown_options=True)) <= known, line
    scratch = re.findall(r"^# (scratch: .*)$", text, re.MULTILINE)
    assert [read(line).scratch for line in scratch] == [
        "/mnt/shared/goodgain",
        "gs://bucket/goodgain",
    ]


def test_defaults():
    config = read("")
    assert (config.run, config.gate, config.notify) == (None, None, None)
    assert config.input == ("t/{date}/*",)


@pytest.mark.parametrize(
    ("written", "choice", "text"),
    [
        ("previous_good", BaselineChoice(1), "previous_good"),
        ("mean of last 7", BaselineChoice(7), "mean of last 7"),
        ("2025-03-01", BaselineChoice(pinned=date(2025, 3, 1)), "2025-03-01"),
        ("'2025-03-01'", BaselineChoice(pinned=date(2025, 3, 1)), "2025-03-01"),
    ],
)
def test_baselines_are_read_and_written(written, choice, text):
    config = read(f"baseline: {written}")
    assert config.baseline == choice
    assert config.model_dump(mode="json")["baseline"] == text


def test_every_mistake_has_a_line_number():
    with pytest.raises(UsageError) as raised:
        config_of(
            "input: [t/*, 't/{dat}']\n"
            "baselin: previous_good\n"
            "baseline: mean of last 0\n"
            "late_days: many\n"
            "late_days: 3\n"
            "notify: mail 'x\n"
        )
    message = str(raised.value)
    for expected in (
        "n.yaml:1: input does not name a day",
        "n.yaml:2: baselin is not an option; did you mean baseline?",
        "n.yaml:3: baseline must be previous_good, `mean of last N` or a day like 2025-03-01",
        "n.yaml:5: late_days appears here a second time",
        "n.yaml:6: notify is not a command: No closing quotation",
        "n.yaml: output is missing",
    ):
        assert expected in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("input: '{dat}'\noutput: o", "has the unknown placeholder {dat}"),
        ("input: '{date'\noutput: o", "cannot be filled in"),
        ("input: '{year}/{month}'\noutput: o", "does not name a day"),
        ("input: '{date}'\noutput: gs://bucket/nights", "must be a folder on a disk"),
        ("- a", "must be options, like `name: value`"),
        ("", "must be options, like `name: value`"),
        ("a: [", "n.yaml:1: not valid YAML"),
    ],
)
def test_invalid_configurations_are_refused(text, expected):
    with pytest.raises(UsageError, match=r"n\.yaml") as raised:
        config_of(text)
    assert expected in str(raised.value)


def test_the_commands_of_notify_are_split_like_those_of_a_shell():
    lines = re.findall(r"^# (notify: .*)$", SHIPPED.read_text(), re.MULTILINE)
    mail, post = (read(line) for line in lines)
    assert mail.notify == ("mail", "-s", "Good Gain", "team@example.org")
    assert post.notify[:2] == ("sh", "-c")
    assert mail.model_dump(mode="json")["notify"] == "mail -s 'Good Gain' team@example.org"


def test_placeholders_are_replaced_by_the_day():
    patterns = ("a/{date}/*", "b/{year}/{month}/{day}/*")
    assert patterns_of(patterns, date(2025, 3, 4)) == ["a/2025-03-04/*", "b/2025/03/04/*"]


def test_days_are_parsed_and_listed():
    assert read_day("2025-03-04") == date(2025, 3, 4)
    assert list(days_between(date(2025, 2, 27), date(2025, 3, 1))) == [
        date(2025, 2, 27),
        date(2025, 2, 28),
        date(2025, 3, 1),
    ]
    assert list(days_between(date(2025, 3, 1), date(2025, 2, 27))) == []


@pytest.mark.parametrize("written", ["2025-3-4", "20250304", "2025-02-30", "yesterday", ""])
def test_invalid_days_are_refused(written):
    with pytest.raises(UsageError, match="is not a day"):
        read_day(written)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--date", "x"], "'x' is not a day"),
        (["--backfill", "2025-03-02", "2025-03-01"], "give the earlier day first"),
        (["--date", "2025-03-01", "--backfill", "2025-03-01", "2025-03-02"], "exclude each other"),
        ([], "cannot be read"),
    ],
)
def test_wrong_usage_exits_with_2(words, expected, capsys):
    assert main(["nightly", "--config", "/nowhere/nightly.yaml", *words]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gate: rules/gate.yaml", "gate: rules/gate.yaml cannot be read: No such file"),
        ("run: goodgain:runs", "run: goodgain:runs is not shipped"),
    ],
)
def test_the_place_that_names_a_missing_file_is_given(line, expected, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    told = "notify: sh -c 'cat > told.json'\n"
    Path("nightly.yaml").write_text(f"{MINIMAL}{told}{line}\n")
    assert main(["nightly", "--config", "nightly.yaml", "--date", "2025-03-01"]) == 2
    assert f"goodgain: nightly.yaml:4: {expected}" in capfd.readouterr().err
    assert f"nightly.yaml:4: {expected}" in Path("told.json").read_text()


def test_the_command_line_overrides_the_engine_of_nightly_yaml_and_that_of_run_yaml(
    tmp_path, monkeypatch
):
    runners = []

    def record_runner(config, request, beam_arguments, dependencies):
        runners.append(run_config(config, date(2025, 3, 4), tmp_path).runner)
        return NightlyResult((), ())

    monkeypatch.setattr("goodgain.pipeline.studies.nightly.job.run_nightly", record_runner)
    (tmp_path / "run.yaml").write_text("runner: PrismRunner")
    config = tmp_path / "nightly.yaml"
    config.write_text(f"{MINIMAL}run: {tmp_path}/run.yaml\n")
    main(["nightly", "--config", str(config)])
    config.write_text(f"{MINIMAL}run: {tmp_path}/run.yaml\nrunner: FlinkRunner\n")
    main(["nightly", "--config", str(config)])
    main(["nightly", "--config", str(config), "--runner", "PortableRunner"])
    assert runners == ["PrismRunner", "FlinkRunner", "PortableRunner"]


@pytest.mark.parametrize(
    "words", [["--date", "9999-01-01"], ["--backfill", "2025-03-01", "9999-01-01"]]
)
def test_future_days_are_refused_without_an_entry(tmp_path, capsys, words):
    config = tmp_path / "nightly.yaml"
    config.write_text(f"input: t/{{date}}/*\noutput: {tmp_path}/nights\n")
    assert main(["nightly", "--config", str(config), *words]) == 2
    assert "9999-01-01 is in the future" in capsys.readouterr().err
    assert not (tmp_path / "nights").exists()
