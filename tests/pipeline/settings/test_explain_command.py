"""The `goodgain explain` command that a report shows for a conversation."""

import shlex
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.pipeline.cli import explain
from goodgain.pipeline.cli.commands import parse_arguments
from goodgain.pipeline.cli.config_options import collect_given_options
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.explain_command import explain_command, quote_word
from goodgain.pipeline.settings.in_memory import IN_MEMORY
from goodgain.pipeline.settings.run_config import ExplainConfig, RunConfig

RUN = {"input": ["a b.avro", "c*.avro"], "good_gain_threshold": 2, "rules": None}
HOSTILE = ["; rm -rf /", "$(reboot)", "`id`", "a'b", 'a"b', "-h", "--input", "a\\b", "*", "a\nb"]


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=30))
def test_a_printable_id_is_one_shell_word(identity):
    if identity.isprintable():
        assert shlex.split(quote_word(identity)) == [identity]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("identity", [*HOSTILE, "\x1b[2J\x07", "a\u202eb", "\U000e0041", "'\x01\\"])
def test_shell_passes_the_id_to_the_command(identity):
    command = f"printf %s {quote_word(identity)}"
    printed = subprocess.run(
        ["bash", "-c", command], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    assert printed.stdout.decode() == identity
    assert all(character.isprintable() for character in command)


@pytest.mark.parametrize("identity", ["c-1", "-c-1", "--json", "a b", "; reboot"])
def test_command_explains_with_the_options_of_the_run(identity):
    options = {
        "good_gain_threshold": 3,
        "rules": "r",
        "metrics": ["ndcg@3", "rbp.5"],
        "duplicates": "hold_slot",
        "g_max": 5,
        "relevance_threshold": 1,
        "label_map": ["2=1", "4=2"],
        "qrels": "a b.txt",
        "qrels_id": "name",
        "qrels_topic": "query_id",
    }
    run_only = {"output": "out", "slice": [["market"]], "per_call": True, "runner": "x"}
    words = shlex.split(explain_command(identity, RUN | options | run_only))
    assert words[:2] == ["goodgain", "explain"]
    args = parse_arguments(explain, words[2:])
    assert args.conversation_id == identity
    config = load_config(ExplainConfig, collect_given_options(args, ExplainConfig))
    scored = config.model_dump(mode="json")
    assert {name: scored[name] for name in options} == options
    assert scored["input"] == RUN["input"]


def test_command_omits_default_options():
    defaults = RunConfig(input=("x",), output="out").model_dump(mode="json")
    assert explain_command("c-1", defaults | RUN) == explain_command("c-1", RUN)
    assert explain_command("c-1", RUN) == "goodgain explain c-1 --input 'a b.avro' 'c*.avro'"


@pytest.mark.parametrize(
    ("metrics", "named"),
    [
        (["ndcg@10", "mrr"], []),  # shown by default
        (["CG", "SRE"], []),  # every explanation has them
        (["ndcg@10", "ndcg@3"], ["ndcg@10", "ndcg@3"]),
        (["CG", "mine.py:best", "mrr"], ["mrr", "mine.py:best"]),
        (["CG", "package:best"], ["package:best"]),
    ],
)
def test_command_names_metrics_only_if_the_explanation_lacked_one(metrics, named):
    short = explain_command("c-1", RUN)
    option = [" --metrics", *named] if named else []
    assert explain_command("c-1", RUN | {"metrics": metrics}) == short + " ".join(option)
    both = explain_command("c-1", RUN | {"metrics": metrics}, against=["d.avro"])
    assert both.endswith("--against d.avro")


@pytest.mark.parametrize("option", ["labels", "qrels", "outcomes", "exclude"])
def test_no_command_for_what_was_in_memory(option):
    assert explain_command("c-1", RUN | {option: IN_MEMORY}) is None
    assert explain_command("c-1", RUN | {"input": [IN_MEMORY]}) is None
    assert explain_command("c-1", RUN, against=[IN_MEMORY]) is None


def test_no_command_if_it_would_be_very_long():
    assert explain_command("x" * 5_000, RUN) is None
