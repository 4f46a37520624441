"""The page about traces from other tools: its commands, and its examples of mappings."""

import glob
import gzip
import json
import os
import re
import shlex
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.convert.importing.formats.catalog import FORMATS
from tests.pipeline.convert.importing import FIXTURES, import_records, places

PAGE = (Path(__file__).parents[3] / "docs" / "traces-from-other-tools.md").read_text()
ROW = re.compile(r"^\| (?P<who>[^|]+) \| (?P<command>.*`goodgain .*) \|$", re.MULTILINE)
COMMANDS = [
    command
    for row in ROW.finditer(PAGE.partition("\n## ")[0])
    for command in re.findall(r"`(goodgain [^`]+)`", row["command"])
]
CHAT = [
    {"role": "user", "content": "Where do kites live?"},
    {
        "role": "assistant",
        "tool_calls": [
            {"id": "1", "function": {"name": "web_search", "arguments": '{"query": "kites"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": '[{"url": "https://ex.org/a", "text": "A"}]'},
]
SESSION = [
    {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "Where?"}},
    {
        "type": "assistant",
        "sessionId": "s",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "1", "name": "WebSearch", "input": {"query": "kites"}}
            ],
        },
    },
    {
        "type": "user",
        "sessionId": "s",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": "Links"}],
        },
        "toolUseResult": {"query": "kites", "results": [{"title": "A", "url": "https://ex.org/a"}]},
    },
]
TABLE = "conversation_id,iteration,query,url,gain\nc,1,kites,https://ex.org/a,3\n"


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def agent(name):
    return gzip.decompress((FIXTURES / "agents" / f"{name}.jsonl.gz").read_bytes()).decode()


def browsecomp():
    path = next((FIXTURES / "browsecomp_plus").rglob("run_*.json"))
    return path.read_text()


# What stands in the files that the commands name.
FILES = {
    "spans/1.jsonl": lambda: agent("openinference_langgraph"),
    "runs.jsonl": lambda: agent("langsmith_langgraph"),
    "export/1.jsonl": lambda: agent("langfuse_langgraph"),
    "traces.jsonl": lambda: agent("mlflow_autolog"),
    "chats.jsonl": lambda: lines([{"id": "c", "messages": CHAT}]),
    ".claude/projects/p/s.jsonl": lambda: lines(SESSION),
    "runs/run_1.json": browsecomp,
    "results.csv": lambda: TABLE,
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_table_of_commands_has_every_format():
    named = {command.split("--from ")[1].split()[0] for command in COMMANDS if "--from" in command}
    assert named == FORMATS.keys() - {"custom"}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_table_work_as_they_stand(folder, command, capsys):
    program, *words = shlex.split(command)
    if "~" in command:  # which the shell expands, with the wildcards beside it
        words = [expanded for word in words for expanded in _expand(word)]
    assert (program, main(words)) == ("goodgain", 0), capsys.readouterr().err
    assert any(folder.glob("traces.parquet")) or any(folder.glob("out/manifest.json"))


def _expand(word):
    return glob.glob(os.path.expanduser(word)) or [word]


def mappings():
    """The examples of mappings: their records, and the mapping."""
    return re.findall(r"```json\n(.*?)```\n.*?```yaml\n(unit:.*?)```", PAGE, re.DOTALL)


def records_in(text):
    decoder, at, records = json.JSONDecoder(), 0, []
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        record, at = decoder.raw_decode(text, at)
        records.append(record)
    return records


def test_a_transcript_is_joined_by_ids(tmp_path):
    told, mapping = mappings()[0]
    records, counts = import_records(tmp_path, records_in(told), mapping)
    assert places(records) == [
        ("c-1", 1, 2, 0, "red kites"),
        ("c-1", 1, 2, 1, "black kites"),
        ("c-1", 1, 5, 0, "kite food"),
    ]
    assert [[result["url"] for result in record["results"]] for record in records] == [
        ["https://ex.org/red"], ["https://ex.org/black"], [],
    ]  # fmt: skip
    assert counts.found_nothing == 1


def test_a_text_is_matched_by_a_pattern(tmp_path):
    told, mapping = mappings()[1]
    records, _ = import_records(tmp_path, records_in(told), mapping)
    assert places(records) == [("c-1", 1, 1, 0, "red kites"), ("c-1", 1, 2, 0, "kite food")]
    assert [record["results"] for record in records] == [
        [
            {"title": "Red", "score": 0.9, "ids": {"doc_id": "a/1"}},
            {"title": "Kites", "score": 0.4, "ids": {"doc_id": "a/2"}},
        ],
        [],
    ]
