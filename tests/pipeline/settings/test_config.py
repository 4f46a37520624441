"""The configuration of a run: defaults, forms of options, files and messages."""

import argparse
import json
import re
from importlib.resources import files

import pytest
from pydantic import ValidationError

from goodgain.pipeline.cli.commands import load_command
from goodgain.pipeline.cli.config_options import options_table
from goodgain.pipeline.settings.config_file import load_config, parse_config_text
from goodgain.pipeline.settings.keywords import from_keywords
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.pipeline.settings.struct_options import values_for
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.own_names import DEFAULT_METRICS, ranking_metrics_of
from goodgain.transforms.core.records.max_rejected import MaxRejected
from goodgain.transforms.core.scoring.options import ScoringOptions
from goodgain.transforms.core.scoring.settings import Scoring

NEEDED = {"input": ["a.avro"], "output": "out"}


@pytest.fixture
def config_file(tmp_path):
    def write(text):
        path = tmp_path / "run.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def mistakes(options, path=None):
    with pytest.raises(UsageError) as caught:
        load_config(RunConfig, options, path)
    first, *lines = str(caught.value).split("\n  ")
    assert first == "The configuration cannot be used:"
    return [line.removeprefix(f"{path}:") for line in lines]


class TestDefaults:
    def test_only_input_and_output_are_required(self):
        config = load_config(RunConfig, NEEDED)
        assert config.format == "parquet"
        assert (config.good_gain_threshold, config.relevance_threshold) == (2, None)
        assert config.metrics == DEFAULT_METRICS
        assert str(config.max_rejected) == "1%"
        assert config.slice == ()

    def test_metrics_of_every_run_are_shown_and_not_computed_anew(self):
        config = load_config(RunConfig, {**NEEDED, "metrics": ["SRE", "P@5", "CG"]})
        assert config.metrics == ("SRE", "precision@5", "CG")
        assert [metric.name for metric in ranking_metrics_of(config.metrics)] == ["precision@5"]

    def test_names_both_if_missing(self):
        assert [line.split(":")[0] for line in mistakes({})] == [
            "--input is missing",
            "--output is missing",
        ]

    def test_is_immutable(self):
        with pytest.raises(ValidationError):
            load_config(RunConfig, NEEDED).output = "elsewhere"

    def test_every_field_has_a_description_and_a_row_in_the_table_of_options(self):
        undescribed = [
            name for name, field in RunConfig.model_fields.items() if not field.description
        ]
        assert undescribed == []
        table = options_table(RunConfig)
        flags = {"mapping": "map"}
        names = [flags.get(name, name).replace("_", "-") for name in RunConfig.model_fields]
        assert all(f"`--{name}" in table for name in names)

    def test_survives_a_round_trip_through_json(self):
        config = load_config(RunConfig, {**NEEDED, "slice": ["market"], "max_rejected": "5"})
        assert RunConfig.model_validate_json(config.model_dump_json()) == config


class TestForms:
    def test_a_single_string_is_a_list_of_one(self):
        config = load_config(RunConfig, {"input": "a.avro", "output": "out", "metrics": "map"})
        assert config.input == ("a.avro",)
        assert config.metrics == ("map",)

    def test_commas_separate_metrics(self):
        assert load_config(RunConfig, {**NEEDED, "metrics": ["map, mrr", "auc"]}).metrics == (
            "map",
            "mrr",
            "auc",
        )

    @pytest.mark.parametrize(
        "written",
        [["market", "arm,market"], [["market"], ["arm", "market"]], ["market ", "arm , market"]],
    )
    def test_parses_slices(self, written):
        config = load_config(RunConfig, {**NEEDED, "slice": written})
        assert config.slice == (("market",), ("arm", "market"))

    def test_relevance_threshold_overrides_the_good_gain_threshold(self):
        given = {**NEEDED, "good_gain_threshold": "1"}
        for more, threshold in (({}, 1), ({"relevance_threshold": "3"}, 3)):
            config = load_config(RunConfig, given | more)
            scoring = Scoring.default(**values_for(ScoringOptions, config))
            assert scoring.ranking.relevance_threshold == threshold


class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            (
                {"good_gain_threshold": "0"},
                "--good-gain-threshold must be at least 1",
            ),
            ({"good_gain_threshold": "5"}, "--good-gain-threshold must be at most 4"),
            ({"max_i": "ten"}, "--max-i must be a whole number, not 'ten'"),
            ({"max_i": "0"}, "--max-i must be at least 1"),
            ({"max_i": "1001"}, "--max-i must be at most 1000"),
            ({"shards": "1000000"}, "--shards must be at most 100000"),
            ({"format": "csv"}, "--format must be 'avro', 'parquet' or 'jsonl', not 'csv'"),
            ({"max_rejected": "2.5"}, "--max-rejected must be a count like 5 or a share like 2%"),
            ({"slice": ["a,"]}, "--slice must not be empty"),
            ({"slice": ["a,b", "b,a"]}, "--slice holds b,a twice"),
            ({"slice": ["a,a"]}, "--slice names an attribute twice in a,a"),
            ({"metrics": ["CG", "pool_recall"]}, "--metrics cannot be used: pool_recall: not"),
            ({"metrics": ["nddcg"]}, "--metrics cannot be used: Unknown ranking metrics: 'nddcg'"),
            ({"metrics": ["map", "map"]}, "--metrics cannot be used: Ranking metrics given more"),
            (
                {"relevance_threshold": "5"},
                "--relevance-threshold must be from 1 to 4 (--g-max), not 5",
            ),
            ({"g_max": "1"}, "--g-max must be at least 2 (--good-gain-threshold), not 1"),
            ({"duplicates": "drop"}, "--duplicates must be 'compact' or 'hold_slot'"),
            ({"mapping": ["gian=x"]}, "--map cannot be used: Fields cannot be renamed: gian is"),
            ({"shards": "0"}, "--shards must be at least 1"),
            ({"input": []}, "--input must have at least one entry"),
            ({"output": ""}, "--output must not be empty"),
            ({"output": "a\udcff"}, "--output must be text in UTF-8, not 'a\\udcff'"),
            ({"metrics": ["a\udcff"]}, "--metrics must be text in UTF-8, not 'a\\udcff'"),
            ({"mapping": ["gain=\udcff"]}, "--map must be text in UTF-8, not 'gain=\\udcff'"),
        ],
    )
    def test_reports_a_wrong_option(self, options, expected):
        (line,) = mistakes({**NEEDED, **options})
        assert line.startswith(expected)

    @pytest.mark.parametrize(
        ("options", "shell", "file", "python"),
        [
            (
                {"qrels": "q.txt", "labels": "l.csv"},
                "--labels cannot be given beside --qrels, which replace every label",
                "labels cannot be given beside qrels, which replace every label",
                "labels cannot be given beside qrels, which replace every label",
            ),
            (
                {"pass": ["CG >= 5"]},
                "--pass needs --cluster, the attribute that repeats share",
                "pass needs cluster, the attribute that repeats share",
                "pass_ needs cluster, the attribute that repeats share",
            ),
            (
                {"cluster": "q", "pass_k": [2]},
                "--pass-k needs --pass, the conditions that repeats are to meet",
                "pass_k needs pass, the conditions that repeats are to meet",
                "pass_k needs pass_, the conditions that repeats are to meet",
            ),
            (
                {"g_max": 2, "good_gain_threshold": 3},
                "--g-max must be at least 3 (--good-gain-threshold), not 2",
                "g_max must be at least 3 (good_gain_threshold), not 2",
                "g_max must be at least 3 (good_gain_threshold), not 2",
            ),
            (
                {"g_max": 2, "relevance_threshold": 3},
                "--relevance-threshold must be from 1 to 2 (--g-max), not 3",
                "relevance_threshold must be from 1 to 2 (g_max), not 3",
                "relevance_threshold must be from 1 to 2 (g_max), not 3",
            ),
        ],
    )
    def test_one_option_about_another_in_the_words_of_each_face(
        self, config_file, options, shell, file, python
    ):
        fields = {{"pass": "pass_"}.get(key, key): value for key, value in options.items()}
        assert mistakes({**NEEDED, **fields}) == [shell]
        if file is not None:
            path = config_file(json.dumps(options))
            assert mistakes(NEEDED, path) == [f"1: {file}"]
        with pytest.raises(UsageError, match=re.escape(python)):
            from_keywords(RunConfig, {**fields, "traces": ["a"]}, {"output": "out"})

    def test_a_wrong_scale_is_reported_with_other_mistakes(self):
        found = mistakes({**NEEDED, "g_max": "1", "max_i": "0", "metrics": ["nddcg"]})
        assert [line.split()[0] for line in sorted(found)] == ["--g-max", "--max-i", "--metrics"]

    def test_a_file_without_a_name_is_refused(self):
        with pytest.raises(UsageError, match="The file with the options has no name"):
            load_config(RunConfig, NEEDED, "")

    def test_true_is_not_a_number(self, config_file):
        path = config_file("good_gain_threshold: true")
        assert mistakes(NEEDED, path) == ["1: good_gain_threshold must be a number, not true"]

    def test_rejects_a_field_that_is_mapped_twice(self, config_file):
        path = config_file("mapping:\n  gain: relevance\n  gain: label\n")
        assert mistakes(NEEDED, path) == ["3: gain appears here a second time"]

    def test_reports_all_mistakes_in_the_order_of_the_file(self, config_file):
        path = config_file("max_reject: 3\nmax-i: 0\n\noverwrite: perhaps\nmax_i: 4\n")
        assert mistakes({"input": ["a"], "shards": "x"}, path) == [
            "--output is missing: give it as an option or in a --config file",
            "--shards must be a whole number, not 'x'",
            "1: max_reject is not an option; did you mean max_rejected?",
            "2: max_i must be at least 1, not 0",
            "4: overwrite must be true or false, not 'perhaps'",
            "5: max_i appears here a second time",
        ]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a: [", "run.yaml:1: not valid YAML"),
            ("output: a\n\tinput: b", "run.yaml:2: not valid YAML"),
            ("- output", "run.yaml:1: expected one option per line"),
            ("{[a, b]: c}", "run.yaml:1: not valid YAML"),
        ],
    )
    def test_reports_a_malformed_file(self, text, expected):
        with pytest.raises(UsageError) as caught:
            parse_config_text(text, "run.yaml", RunConfig)
        assert str(caught.value).startswith(expected)

    def test_reports_a_missing_file(self, tmp_path):
        with pytest.raises(UsageError, match=r"nothing\.yaml cannot be read: No such file"):
            load_config(RunConfig, NEEDED, str(tmp_path / "nothing.yaml"))


class TestFile:
    def test_hyphens_and_underscores_are_the_same(self, config_file):
        path = config_file("max-rejected: 2%\ngood_gain_threshold: 3\n")
        config = load_config(RunConfig, NEEDED, path)
        assert (str(config.max_rejected), config.good_gain_threshold) == ("2%", 3)

    @pytest.mark.parametrize("key", ["map", "mapping"])
    def test_a_renamed_option_can_be_spelt_as_on_the_command_line(self, config_file, key):
        config = load_config(RunConfig, NEEDED, config_file(f"{key}: [gain=relevance]\n"))
        assert config.mapping == ("gain=relevance",)

    @pytest.mark.parametrize(("command", "model"), [("run", RunConfig), ("stream", StreamConfig)])
    def test_a_file_takes_every_option_of_a_command_but_those_it_says(self, command, model):
        parser = argparse.ArgumentParser()
        load_command(command).add_arguments(parser)
        written = [action.option_strings[0].removeprefix("--") for action in parser._actions]
        text = files("goodgain.configs").joinpath(f"{command}.yaml").read_text(encoding="utf-8")
        (excepted,) = re.findall(r"except (.+?) can(?=\s)", text)
        excluded = {"-h", *re.split(", | and ", excepted)}
        refused = {
            name for name in written if parse_config_text(f"{name}: 1\n", "a.yaml", model).mistakes
        }
        assert refused == excluded

    def test_one_option_under_two_names_is_a_repetition(self, config_file):
        path = config_file("map: [gain=relevance]\nmapping: [gain=label]\n")
        assert mistakes(NEEDED, path) == ["2: mapping appears here a second time"]

    def test_options_of_the_command_alone_are_named_as_such(self, config_file):
        path = config_file("json: true\nquiet: true\nmap: [gian=x]\n")
        assert mistakes(NEEDED, path)[:2] == [
            "1: json can only be given on the command line",
            "2: quiet can only be given on the command line",
        ]
        assert mistakes(NEEDED, path)[2].startswith("3: map cannot be used: ")

    def test_options_override_the_file(self, config_file):
        path = config_file("output: from-file\nmax_i: 3\n")
        config = load_config(RunConfig, {"input": ["a"], "output": "given"}, path)
        assert (config.output, config.max_i) == ("given", 3)

    def test_an_empty_file_changes_nothing(self, config_file):
        config = load_config(RunConfig, NEEDED, config_file("# nothing\n"))
        assert config == load_config(RunConfig, NEEDED)

    def test_the_shipped_example_is_valid(self):
        text = files("goodgain.configs").joinpath("run.yaml").read_text(encoding="utf-8")
        file = parse_config_text(text, "run.yaml", RunConfig)
        assert file.mistakes == []
        config = RunConfig.model_validate({**file.values, **NEEDED})
        assert config.slice == (("market",), ("arm", "market"))
        assert text.startswith("# goodgain run --config goodgain:run")


class TestMaxRejected:
    @pytest.mark.parametrize(
        ("limit", "rejected", "read", "exceeded"),
        [
            ("5", 5, 5, False),
            ("5", 6, 10**9, True),
            ("0", 0, 0, False),
            ("0", 1, 1, True),
            ("2%", 2, 100, False),
            ("2%", 3, 100, True),
            ("2%", 0, 0, False),
            ("0.1%", 1, 1000, False),
            ("0.1%", 2, 1000, True),
            ("100%", 7, 7, False),
        ],
    )
    def test_exactly_the_limit_is_allowed(self, limit, rejected, read, exceeded):
        assert MaxRejected.parse(limit).is_exceeded(rejected, read) is exceeded

    @pytest.mark.parametrize("written", ["5", "0", "2%", "0.5%"])
    def test_text_is_as_given(self, written):
        assert str(MaxRejected.parse(written)) == written

    @pytest.mark.parametrize("written", ["", "-1", "2.5", "101%", "one", "1e2", "5 records", "nan"])
    def test_rejects_other_forms(self, written):
        with pytest.raises(ValueError, match="must be a count like 5 or a share like 2%"):
            MaxRejected.parse(written)


class TestShippedFile:
    def test_is_found_by_name(self):
        config = load_config(RunConfig, NEEDED, "goodgain:run")
        assert config.slice == (("market",), ("arm", "market"))
        assert load_config(RunConfig, NEEDED, "goodgain:run.yaml") == config

    def test_unknown_name_is_answered_with_the_shipped_names(self):
        with pytest.raises(UsageError) as caught:
            load_config(RunConfig, NEEDED, "goodgain:runs")
        names = ("dedup", "gate", "nightly", "run", "stream")
        listed = ", ".join(f"goodgain:{name}" for name in names)
        assert str(caught.value) == (
            f"goodgain:runs is not shipped with Good Gain; choose from {listed}."
        )
