"""The command line: commands, options, help, messages and exit codes."""

import argparse
import logging
import re
import shlex
import subprocess
import sys
from importlib.resources import files

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.cli.commands import COMMANDS, load_command, parse_arguments
from goodgain.pipeline.cli.config_options import collect_given_options
from goodgain.pipeline.document.safe_text import printable, printable_lines, shorten
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.settings.option_fields import is_flag
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.errors import GoodGainError, UsageError

SAMPLE = str(files("goodgain.configs").joinpath("data/sample.avro"))
RUN = load_command("run")


def parse(*words):
    return parse_arguments(RUN, words)


def actions_of(name):
    """The declared options of a command."""
    parser = argparse.ArgumentParser()
    load_command(name).add_arguments(parser)
    return parser._actions


class TestCommands:
    @pytest.mark.parametrize("name", COMMANDS)
    def test_declares_name_help_example_and_run(self, name):
        command = load_command(name)
        assert name == command.NAME
        assert command.HELP
        assert command.EXAMPLE.startswith(f"goodgain {name}")
        assert callable(command.run)

    @pytest.mark.parametrize("name", COMMANDS)
    def test_help_shows_the_options_and_an_example(self, name, capsys):
        assert main([*name.split(), "--help"]) == 0
        out = capsys.readouterr().out
        assert f"usage: goodgain {name}" in out
        assert load_command(name).EXAMPLE in out

    @pytest.mark.parametrize("name", COMMANDS)
    def test_help_says_what_the_default_is(self, name):
        for action in actions_of(name):
            assert not re.search(r"\((?!required|default: )\S*\)$", action.help), action.help
            if action.default == argparse.SUPPRESS or action.nargs == 0:
                continue
            if isinstance(action.default, str | int | float):
                default = "the current one" if action.default == "." else action.default
                shown = action.help.replace("%%", "%")
                assert f"(default: {str(default).removesuffix('.0')}" in shown

    @pytest.mark.parametrize("name", COMMANDS)
    def test_example_parses(self, name):
        command = load_command(name)
        parse_arguments(command, shlex.split(command.EXAMPLE)[1 + len(name.split()) :])

    @pytest.mark.parametrize("word", ["--help", "-h", "help"])
    def test_overview_lists_all_commands_in_80_columns(self, word, capsys):
        assert main([word]) == 0
        lines = capsys.readouterr().out.splitlines()
        for name in COMMANDS:
            assert any(line.startswith(f"  {name} ") for line in lines)
        assert max(map(len, lines[:-1])) <= 80
        assert "also: goodgain help COMMAND, goodgain --version" in lines

    @pytest.mark.parametrize("words", [["help", "pool"], ["pool", "--help"]])
    def test_help_of_a_group_lists_its_commands(self, words, capsys):
        assert main(words) == 0
        lines = capsys.readouterr().out.splitlines()
        listed = [line[2:].split("  ")[0] for line in lines if line.startswith("  pool ")]
        assert listed == [name for name in COMMANDS if name.startswith("pool ")]

    @pytest.mark.parametrize("name", COMMANDS)
    def test_results_are_also_printed_as_json_and_summaries_can_be_left_out(self, name):
        own = {action.dest for action in actions_of(name)}
        assert ("json" in own) == (name not in ("init", "prism", "report", "completion"))
        only_results = ("init", "metrics", "completion", "pool show", "pool agree")
        assert ("quiet" in own) == (name not in only_results)

    @pytest.mark.parametrize(
        ("name", "argument"),
        [
            ("run", "input"),
            ("explain", "input"),
            ("validate", "input"),
            ("convert", "inputs"),
            ("convert", "from_traces"),
            ("pool build", "runs"),
        ],
    )
    def test_help_says_that_traces_are_files_folders_or_patterns(self, name, argument):
        (action,) = (action for action in actions_of(name) if action.dest == argument)
        assert "files, folders or patterns" in action.help

    def test_prints_the_version(self, capsys):
        assert main(["--version"]) == 0
        assert capsys.readouterr().out.startswith("goodgain 0")

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            ([], "give a command: run, stream"),
            (["runn"], "'runn' is not a command; did you mean run?"),
            (["Validate"], "did you mean validate?"),
            (["xyzzy"], "there are run, stream"),
            (["validate", "--jsn", "x"], "--jsn is not an option; did you mean --json?"),
            (["validate", "--quux", "x"], "--quux is not an option; see"),
            (["validate", "--input", "x"], "--input is not an option: give PATTERN without a name"),
            (
                ["convert", "--from", "otlp", "--input=x", "--output", "y"],
                "--input is not an option: give INPUT without a name",
            ),
            (["report", "--run", "x"], "--run is not an option: give DIR without a name"),
            (["gate", "--run", "x"], "--run is not an option: give DIR without a name"),
            (["export", "--run", "x"], "--run is not an option: give DIR without a name"),
            (["explain", "--id", "x"], "is not an option: give CONVERSATION_ID without a name"),
            (["validate"], "the following arguments are required: PATTERN"),
            (["explain", "c", "--input"], "expected at least one argument"),
        ],
    )
    def test_wrong_usage_gives_exit_code_2_and_one_message(self, words, expected, capsys):
        assert main(words) == 2
        captured = capsys.readouterr()
        assert expected in captured.err
        assert captured.err.startswith("goodgain: ")
        assert captured.err.count("\n") == 1
        assert captured.out == ""


class TestOptionsOfRun:
    def test_options_become_fields_of_the_configuration(self):
        words = ["--input", "a", "b", "--input", "c", "--output", "o", "--max_i", "3"]
        words += ["--slice", "market", "--slice", "arm,market", "--overwrite", "--no-bounds"]
        args = parse(*words)
        assert collect_given_options(args, RunConfig) == {
            "input": ["a", "b", "c"],
            "output": "o",
            "max_i": "3",
            "slice": ["market", "arm,market"],
            "overwrite": True,
            "bounds": False,
        }
        assert args.beam_arguments == []

    @pytest.mark.parametrize("name", RunConfig.model_fields)
    def test_every_field_has_an_option(self, name):
        field = RunConfig.model_fields[name]
        option = f"--{field.json_schema_extra.get('flag', name).replace('_', '-')}"
        words = [option] if is_flag(field) else [option, "1"]
        assert list(collect_given_options(parse(*words), RunConfig)) == [name]

    def test_other_options_are_passed_to_beam_unchanged(self):
        words = [
            "--flink_master",
            "host:1",
            "--streaming",
            "--experiments=a=b",
            "--experiments",
            "c",
        ]
        args = parse("--input", "a", *words, "--output", "o")
        assert args.beam_arguments == words
        assert collect_given_options(args, RunConfig) == {"input": ["a"], "output": "o"}

    @pytest.mark.parametrize(
        ("word", "meant"),
        [
            ("--outptu", "--output"),
            ("--max-reject", "--max-rejected"),
            ("--max_reject=3", "--max-rejected"),
            ("--imput", "--input"),
            ("-output", "--output"),
            ("--good-gain", "--good-gain-threshold"),
            ("--slices", "--slice"),
            ("--OUTPUT", "--output"),
            ("--confg", "--config"),
            ("--out", "--output"),
            ("--out=o", "--output"),
            ("--max-ii", "--max-i"),
        ],
    )
    def test_misspelt_options_are_not_passed_to_beam(self, word, meant):
        with pytest.raises(UsageError, match=f"is not an option; did you mean {meant}\\?"):
            parse("--input", "a", word, "x")

    def test_rejects_abbreviations(self):
        with pytest.raises(UsageError, match="did you mean --metrics"):
            parse("--metr", "map")

    def test_traces_may_come_first(self):
        args = parse("a", "b", "--output", "o", "--input", "c", "--flink_master", "h")
        assert collect_given_options(args, RunConfig) == {"input": ["a", "b", "c"], "output": "o"}
        assert args.beam_arguments == ["--flink_master", "h"]

    def test_help_begins_with_the_options_that_most_runs_need(self, capsys):
        assert main(["run", "--help"]) == 0
        out = capsys.readouterr().out
        places = [out.index(f"\n  --{name} ") for name in ("input", "output", "config", "slice")]
        groups = ("most used:", "labels and judgments:", "limits:", "options:")
        assert sorted(places) == places
        assert out.index(groups[0]) < places[0] < places[-1] < out.index(groups[1])
        assert sorted(map(out.index, groups)) == list(map(out.index, groups))

    @pytest.mark.parametrize("command", ["run", "stream", "compare"])
    def test_help_begins_with_ten_options(self, command, capsys):
        assert main([command, "--help"]) == 0
        out = capsys.readouterr().out
        first = out[out.index("most used:") :].partition("\n\n")[0]
        assert len(re.findall("^  --", first, re.MULTILINE)) == 10

    def test_rejects_words_without_an_option(self):
        with pytest.raises(UsageError, match="'stray' belongs to no option"):
            parse("--output", "o", "stray", "--flink_master", "h")
        with pytest.raises(UsageError, match="'-' belongs to no option"):
            parse("--output", "o", "--flink_master", "-")  # Beam takes it for a flag

    def test_passes_negative_numbers_to_beam(self):
        args = parse("--output", "o", "--direct_num_workers", "-1")
        assert args.beam_arguments == ["--direct_num_workers", "-1"]
        with pytest.raises(UsageError, match="'-1' belongs to no option"):
            parse("--output", "o", "--direct_num_workers", "1", "-1")

    def test_no_option_of_beam_is_taken_for_a_misspelling(self):
        from apache_beam.options.pipeline_options import PipelineOptions

        beam_options = set()
        logging.disable(logging.CRITICAL)
        for part in PipelineOptions.__subclasses__():
            parser = argparse.ArgumentParser(allow_abbrev=False)
            part._add_argparse_args(parser)
            beam_options |= {
                option for action in parser._actions for option in action.option_strings
            }
        logging.disable(logging.NOTSET)
        beam_options -= {"-h", "--help"}
        assert "--flink_master" in beam_options
        for option in beam_options:
            parse(option, "x", "--runner", "DataflowRunner")
        with pytest.raises(UsageError, match="did you mean --labels"):
            parse("--label", "labels.csv")

    def test_the_configuration_is_checked_before_beam_is_loaded(self, capsys):
        assert main(["run", "--input", "a", "--max-i", "0"]) == 2
        err = capsys.readouterr().err
        assert "--output is missing" in err
        assert "--max-i must be at least 1" in err

    def test_a_run_without_output_is_answered_with_a_command(self, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "my log.csv").write_text(
            "conversation_id,iteration,query,doc_id,gain\nc,1,kites,a,3\nc,1,kites,b,0\n"
        )
        assert main(["run", "my log.csv", "--format", "jsonl"]) == 2
        *_, last = capsys.readouterr().err.splitlines()
        hint, _, command = last.partition(": goodgain ")
        assert hint == "  To write everything to a folder `out`"
        assert command == "run 'my log.csv' --format jsonl --output out"
        assert main(shlex.split(command)) == 0
        assert (tmp_path / "out" / "manifest.json").is_file()


@pytest.mark.slow
class TestEffects:
    @pytest.mark.parametrize(
        ("command", "option"),
        [
            ("explain", "--budget"),  # gains within it are means of a run
            ("validate", "--unit"),  # which finds no duplicates
        ],
    )
    def test_an_option_that_would_change_nothing_is_refused(self, command, option):
        with pytest.raises(UsageError, match=f"{option} is not an option"):
            parse_arguments(load_command(command), ["x", option, "passage"])


class TestEnds:
    """Messages and exit codes when a command ends, with `metrics` as the example."""

    @pytest.fixture
    def end_with(self, monkeypatch):
        def end_with(error):
            def run(args):
                raise error

            monkeypatch.setattr(load_command("metrics"), "run", run)
            return main(["metrics"])

        return end_with

    @pytest.mark.parametrize(
        ("error", "code"),
        [
            (UsageError("wrong option"), 2),
            (GoodGainError("the job failed"), 1),
        ],
    )
    def test_errors_are_printed_without_a_traceback(self, end_with, error, code, capsys):
        assert end_with(error) == code
        assert capsys.readouterr().err == f"goodgain: {error}\n"

    def test_interrupt_gives_exit_code_130(self, end_with, capsys):
        assert end_with(KeyboardInterrupt()) == 130
        assert capsys.readouterr().err == "goodgain: interrupted.\n"

    def test_control_characters_in_messages_are_escaped(self, end_with, capsys):
        end_with(GoodGainError("in \x1b[31mred\n  second line"))
        assert capsys.readouterr().err == "goodgain: in \\x1b[31mred\n  second line\n"

    def test_unexpected_errors_are_raised(self, end_with):
        with pytest.raises(ZeroDivisionError):
            end_with(ZeroDivisionError())

    def test_closed_pipe_ends_the_command_silently(self):
        process = subprocess.Popen(
            [sys.executable, "-m", "goodgain", "validate", SAMPLE],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == ExitCode.BROKEN_PIPE
        process.stderr.close()


class TestWords:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("plain", "plain"),
            ("a\n\tb\u00a0c", "a b c"),
            ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
            ("\u202eabc\x9b", "\\u202eabc\\x9b"),
            ("Grüße 日本", "Grüße 日本"),
        ],
    )
    def test_control_characters_are_escaped(self, text, expected):
        assert printable(text) == expected

    def test_line_breaks_are_kept(self):
        assert printable_lines("a\n  b\x00") == "a\n  b\\x00"

    @pytest.mark.parametrize(
        ("text", "longest", "expected"),
        [("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("a" * 1000, 3, "aa…")],
    )
    def test_long_texts_are_shortened(self, text, longest, expected):
        assert shorten(text, longest) == expected


class TestHelp:
    def test_help_command_prints_the_same_as_the_option(self, capsys):
        assert main(["help", "explain"]) == 0
        by_word = capsys.readouterr().out
        assert main(["explain", "--help"]) == 0
        assert capsys.readouterr().out == by_word
        assert main(["help", "pool", "show"]) == 0
        assert "goodgain pool show" in capsys.readouterr().out

    @pytest.mark.parametrize("words", ["sample", "export out", "pool judge pool", "pool todo pool"])
    def test_a_missing_option_is_not_looked_for_in_a_file_that_cannot_be_given(self, words, capsys):
        assert main(words.split()) == ExitCode.USAGE
        message = capsys.readouterr().err
        assert " is missing" in message
        assert "--config" not in message

    def test_help_of_an_unknown_command_suggests_the_nearest(self, capsys):
        assert main(["help", "explian"]) == 2
        assert "did you mean explain?" in capsys.readouterr().err
