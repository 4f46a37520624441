"""Wins and losses say what was asked, as far as it is known."""

from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.studies.comparison import examples
from goodgain.pipeline.studies.nightly.baseline import Baseline
from goodgain.pipeline.studies.nightly.verdict import changes
from tests.pipeline.studies.comparison.command import compare
from tests.pipeline.studies.comparison.traces import conversation, output_of

pytestmark = pytest.mark.slow

# Gains in both arms, and queries; of "down" only the base has one.
GAINS = {"up": (2, 4), "down": (4, 2), "level": (3, 3), "same": (2, 2)}
QUERIES = {"up": ("red kites", "red kites eat"), "down": ("old trams", None)}


@pytest.fixture
def arms(tmp_path):
    """The folders of the base and of the candidate."""
    folders = []
    for at, name in enumerate(("base", "candidate")):
        conversations = [conversation(key, [[gains[at]]]) for key, gains in GAINS.items()]
        for (record,) in conversations:
            record["query"] = QUERIES.get(record["conversation_id"], (None, None))[at]
        folders.append(output_of(tmp_path / name, conversations))
    return folders


def queries(found):
    return {
        example["key"]: example["query"]
        for part in ("wins", "losses")
        for example in found["examples"][part]
    }


def test_the_query_is_that_of_the_candidate_or_else_of_the_base(arms, capsys):
    assert queries(compare(capsys, *arms)) == {"up": "red kites eat", "down": "old trams"}


def test_people_read_it_in_the_terminal_and_on_the_page(arms, tmp_path, capsys):
    assert main(["compare", *arms, "--output", str(tmp_path / "out")]) == 0
    assert 'First query: "red kites eat"' in capsys.readouterr().out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "old trams" in page


def test_it_is_unknown_when_the_traces_are_gone(arms, tmp_path, capsys):
    for path in Path(tmp_path).rglob("*.jsonl"):
        path.unlink()
    assert set(queries(compare(capsys, *arms)).values()) == {None}


def test_a_night_looks_nothing_up_since_it_shows_no_examples(arms, monkeypatch):
    looked_up = set()

    def record(_, conversation_ids):
        looked_up.update(conversation_ids)
        return {}

    monkeypatch.setattr(examples, "find_queries_of_run", record)
    base, candidate = map(Path, arms)
    assert changes(candidate, Baseline(folder=base))["CG"]
    assert not looked_up
