"""An option that a Struct declares is on the command line, in files, schemas, docs and Python."""

import argparse
from typing import Annotated, Literal

import pytest
from msgspec import Struct

from goodgain.pipeline.cli.config_options import (
    add_config_options,
    collect_given_options,
    options_table,
)
from goodgain.pipeline.settings.config_file import load_config, schema_of
from goodgain.pipeline.settings.keywords import from_keywords
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.pipeline.settings.struct_options import option_in, options_of, values_for
from goodgain.transforms.core.dedup.rules import DuplicateOptions
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.option import LIMITS, NAMES, SCORING, Option, options_in
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.scoring.options import ScoringOptions
from goodgain.transforms.core.streaming.options import Closing


class Reader(Struct, frozen=True):
    longest: Annotated[
        int | None, Option(LIMITS, "N", "leave out longer ones", at_least=1, at_most=9)
    ] = None
    strict: Annotated[bool, Option(SCORING, "", "refuse what is odd")] = False
    first: Annotated[Literal[0, 1], Option(NAMES, "0|1", "number of the first")] = 1
    title: Annotated[str, Option(NAMES, "NAME", "field of the title", "run")] = "title"
    path: str = "here"


@options_of(Reader)
class ReaderConfig(Settings):
    """What is read."""

    strict: bool


@options_of(Reader, "run")
class RunnerConfig(ReaderConfig):
    """What is read and run."""


def on_the_command_line(words, model=ReaderConfig):
    parser = argparse.ArgumentParser()
    add_config_options(parser, model, file="a file")
    return load_config(model, collect_given_options(parser.parse_args(words.split()), model))


def in_a_file(text, tmp_path, model=ReaderConfig):
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    return load_config(model, {}, str(path))


def test_the_same_values_on_every_face(tmp_path):
    expected = ReaderConfig(longest=3, strict=True, first=0)
    assert on_the_command_line("--longest 3 --strict --first 0") == expected
    assert in_a_file("longest: 3\nstrict: true\nfirst: 0\n", tmp_path) == expected
    assert from_keywords(ReaderConfig, {"longest": 3, "strict": True, "first": 0}, {}) == expected
    assert Reader(**values_for(Reader, expected)) == Reader(3, strict=True, first=0)


def test_defaults_are_those_of_the_struct():
    assert Reader(**values_for(Reader, ReaderConfig())) == Reader()


def test_values_are_checked_and_mistakes_named_on_every_face(tmp_path):
    with pytest.raises(UsageError, match="--longest must be at most 9, not '10'"):
        on_the_command_line("--longest 10")
    with pytest.raises(UsageError, match="1: longest must be a number, not true"):
        in_a_file("longest: true\n", tmp_path)
    with pytest.raises(UsageError, match="first must be 0 or 1"):
        from_keywords(ReaderConfig, {"first": 2}, {})


def test_schema_and_docs_describe_them():
    properties = schema_of(ReaderConfig)["properties"]
    assert properties["strict"] == {
        "default": False,
        "description": "refuse what is odd",
        "type": "boolean",
    }
    assert properties["longest"]["anyOf"][0] == {"maximum": 9, "minimum": 1, "type": "integer"}
    assert properties["first"]["enum"] == [0, 1]
    assert options_table(ReaderConfig).splitlines()[2:] == [
        "| `--strict` | refuse what is odd |",
        "| `--first 0` or `1` | number of the first; default: 1 |",
        "| `--longest N` | leave out longer ones |",
    ]


def test_only_settings_of_its_scope_have_an_option():
    assert list(ReaderConfig.model_fields) == ["strict", "longest", "first"]
    config = on_the_command_line("--title name --strict", RunnerConfig)
    assert (config.title, config.strict, config.first) == ("name", True, 1)
    with pytest.raises(UsageError, match="title is not an option"):
        from_keywords(ReaderConfig, {"title": "name"}, {})


class Lists(Struct, frozen=True):
    names: Annotated[tuple[str, ...] | None, Option(NAMES, "NAME", "names", form="names")] = None
    amounts: Annotated[tuple[str, ...], Option(NAMES, "NAME=N", "amounts of names")] = ()
    with_: Annotated[tuple[int, ...], Option(NAMES, "K", "numbers")] = ()
    bare: Annotated[bool | None, Option(SCORING, "", "nothing else")] = None
    wait: Annotated[int, Option(NAMES, "SPAN", "how long", form="duration")] = 90_000
    renamed: Annotated[
        tuple[str, ...], Option(NAMES, "A=B", "other names", form="entries", flag="map")
    ] = ()
    cut: Annotated[
        tuple[tuple[str, ...], ...], Option(NAMES, "NAMES", "names together", keyword="cuts")
    ] = ()


@options_of(Lists)
class ListsConfig(Settings):
    """What is listed."""


class BareConfig(ListsConfig):
    """What is listed, by default with nothing else."""

    bare: bool | None = option_in(Lists, "bare", True)


def test_options_of_several_values():
    expected = ListsConfig(names=["a", "b"], amounts=["a=1,2", "b=3"], with_=[4, 5])
    words = "--names a,b --amounts a=1,2 b=3 --with 4,5"
    assert on_the_command_line(words, ListsConfig) == expected
    assert Lists(**values_for(Lists, expected)) == Lists(("a", "b"), ("a=1,2", "b=3"), (4, 5))


def test_entries_and_lists_of_names_on_every_face(tmp_path):
    expected = ListsConfig(renamed=["a=x", "b=y"], cut=[["a"], ["b", "c"]])
    assert on_the_command_line("--map a=x,b=y --cut a b,c", ListsConfig) == expected
    text = "map: {a: x, b: y}\ncut: [a, 'b,c']\n"
    assert in_a_file(text, tmp_path, ListsConfig) == expected
    given = {"renamed": {"a": "x", "b": "y"}, "cuts": [["a"], ["b", "c"]]}
    assert from_keywords(ListsConfig, given, {}) == expected
    assert Lists(**values_for(Lists, expected)).cut == (("a",), ("b", "c"))


def test_durations_are_written_with_units_and_counted_in_milliseconds(tmp_path):
    assert ListsConfig().wait == 90_000
    assert on_the_command_line("--wait 2h", ListsConfig).wait == 7_200_000
    assert in_a_file("wait: 5s", tmp_path, ListsConfig).wait == 5_000
    assert schema_of(ListsConfig)["properties"]["wait"]["default"] == "1m30s"
    with pytest.raises(UsageError, match="--wait must be a duration like 30m"):
        on_the_command_line("--wait 5", ListsConfig)


def test_settings_may_have_another_default():
    assert (ListsConfig().bare, BareConfig().bare) == (None, True)
    assert on_the_command_line("--no-bare", BareConfig).bare is False
    assert BareConfig.model_fields["bare"].description == "nothing else"


def test_settings_keep_their_name_and_text():
    assert (ReaderConfig.__name__, ReaderConfig.__doc__) == ("ReaderConfig", "What is read.")
    assert ReaderConfig.__module__ == __name__


def test_a_stream_has_every_option_of_closing_with_its_default():
    config = StreamConfig(input="in", output="out")
    assert Closing(**values_for(Closing, config)) == Closing()
    assert values_for(Closing, config).keys() == options_in(Closing).keys()


@pytest.mark.parametrize(
    "struct", [Adaptation, DuplicateOptions, LabelKeys, MeansOptions, ReadBounds, ScoringOptions]
)
def test_a_run_has_every_option_of_reading_and_scoring_with_its_default(struct):
    declared = {name: option.default for name, option in options_in(struct, None).items()}
    assert declared
    of_run = {name: RunConfig.model_fields[name].default for name in declared}
    if struct is ScoringOptions:
        declared["write_duplicates"] = True  # False in a stream
    assert of_run == declared
