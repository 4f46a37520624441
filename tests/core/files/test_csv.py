"""CSV files are read as data frames are, and every line that cannot be used says why."""

import bz2
import gzip

import pandas as pd
import pytest

import goodgain as gg
from goodgain.pipeline.inputs.local_files import find_local_files, open_local, read_files
from goodgain.pipeline.run.plan.seen_names import find_names
from goodgain.transforms.core.files.csv_reader import begins_like_csv
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.warnings.field_names import find_unknown_names

DATASETS = ("conversations", "iterations", "calls", "duplicates", "means")
LONG = """\
conversation_id,iteration,query,rank,url,gain,score,attributes.arm,costs.tokens,ids.doc_id,title
c1,1,red kites,2,https://ex.org/b,0,0.5,base,100,d2,"A title, quoted"
c1,1,red kites,1,https://ex.org/a,3,,base,100,d1,NA
c2,1,kites,,,2,,new,,d9,
c1,2,black kites,1,https://ex.org/a/,1.0,nan,base,50,d1,"In
two lines"
c1,1,kite food,1,https://ex.org/c,,1e-3,base,10,d3,
c2,2,,,,,,new,,,
c1,1,red kites,3,https://ex.org/d,4,0.1,base,100,d4,
"""
WIDE = """\
conversation_id;iteration;timestamp;is_final;attributes;costs.usd;results
c1;1;2026-03-01T12:00:00Z;;"{""arm"": ""base""}";0.5;"[{""url"": ""ex.org/a"", ""gain"": 3}]"
c1;2;1772366460000;True;{'arm': 'base'};0.25;"[{'url': 'ex.org/a', 'gain': None}, {'id': 'b'}]"
c1;3;;;;;[]
"""
GAIN = "results[1].gain must be a whole number from 0 to 4"
ITERATION = "iteration must be a whole number from 1 to 2147483647"


def outcomes(traces, **options):
    run = gg.evaluate(traces, metrics=["ndcg@5", "auc"], per_call=True, **options)
    assert not len(run.rejected)
    return {name: getattr(run, name).stored() for name in DATASETS}


@pytest.fixture
def file(tmp_path):
    def write(content, name="log.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def rejected_of(path):
    records = read_files(find_local_files([path]))
    rows = [record for record in records if isinstance(record, RejectedRecord)]
    return sorted((row.position, row.field, row.reason, row.conversation_id) for row in rows)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_rows_of_results_are_read_as_those_of_a_data_frame(file, pack, mark):
    path = file(pack(mark + LONG.encode()), "log.csv.packed")
    frame = pd.read_csv(file(LONG), keep_default_na=False, na_values=["", "nan"])
    assert outcomes(path) == outcomes(frame)


def test_rows_of_search_calls_are_read_as_records(file):
    calls = [
        {"conversation_id": "c1", "iteration": 1, "timestamp": "2026-03-01T12:00:00Z",
         "attributes": {"arm": "base"}, "costs": {"usd": 0.5},
         "results": [{"url": "ex.org/a", "gain": 3}]},
        {"conversation_id": "c1", "iteration": 2, "timestamp": 1772366460000, "is_final": True,
         "attributes": {"arm": "base"}, "costs": {"usd": 0.25},
         "results": [{"url": "ex.org/a"}, {"id": "b"}]},
        {"conversation_id": "c1", "iteration": 3},
    ]  # fmt: skip
    assert outcomes(file(WIDE)) == outcomes(calls)


def test_rows_of_a_call_need_not_stand_together(file, monkeypatch):
    monkeypatch.setattr("goodgain.transforms.core.files.csv_reader._BYTES_PER_PART", 10)
    header, *lines = LONG.replace('"In\ntwo lines"', "Lines").splitlines()
    shuffled = [header, *(lines[at] for at in (6, 3, 0, 5, 2, 4, 1))]
    assert outcomes(file("\n".join(shuffled))) == outcomes(
        file(LONG.replace("In\ntwo l", "L"), "b")
    )


def test_searches_with_other_queries_in_one_iteration_are_calls(file):
    run = gg.evaluate(file(LONG), per_call=True)
    calls = sorted((row["conversation_id"], row["iteration"], row["results"]) for row in run.calls)
    assert calls == [("c1", 1, 1), ("c1", 1, 3), ("c1", 2, 1), ("c2", 1, 1), ("c2", 2, 0)]


def test_lists_in_cells_are_ids_of_one_document(file):
    text = 'conversation_id,iteration,ids.doc_id,gain\nc,1,"[""a"", ""b""]",3\nc,2,b,3\n'
    assert gg.evaluate(file(text)).conversations[0]["GR"] == 1


def test_renamed_columns_are_read(file):
    text = (
        "session,step,position,link,rel,meta\n"
        's,0,2,https://ex.org/a,3,"{""market"": ""de""}"\ns,0,1,https://ex.org/b,0,\n'
    )
    mapping = "conversation_id=session,iteration=step,rank=position,url=link,gain=rel"
    options = {"mapping": f"{mapping},attributes.market=meta.market", "iteration_base": 0}
    run = gg.evaluate(file(text), metrics=["mrr"], **options)
    (row,) = run.conversations
    assert (row["N"], row["mrr"], row["attributes"]) == (1, 0.5, {"market": "de"})


@pytest.mark.parametrize(
    ("header", "line", "known"),
    [
        (
            "session,step,question,position,link,headline,rel,model,total_tokens,latency_ms,doc_id",
            "s,1,kites,1,https://ex.org/a,A,3,gpt,120,55,d1",
            [],
        ),
        (
            "conversation,step,query,doc,link,title,relevance",
            "s,1,kites,d1,https://ex.org/a,A,3",
            ["query", "title"],
        ),
    ],
)
def test_what_is_proposed_names_every_column_and_reads_the_table(file, header, line, known):
    path = file(f"{header}\n{line}\n")
    ((position, _, reason, _),) = rejected_of(path)
    assert position == "file"
    assert reason.startswith("The table has neither conversation_id nor iteration, but ")
    unknown = find_unknown_names(find_names(find_local_files([path]), open_local), ())
    meant = {name.meant: name.name for name in unknown}
    assert sorted([*meant.values(), *known]) == sorted(header.split(","))
    run = gg.evaluate(path, mapping=meant)
    (row,) = run.conversations
    assert (row["conversation_id"], row["CG"], row["N"]) == ("s", 3, 1)
    assert not run.warnings


@pytest.mark.parametrize(
    ("line", "field", "reason"),
    [
        ("c,1,1,a,seven", "results[1].gain", f'{GAIN}, got text "seven".'),
        ("c,1,1,a,2.5", "results[1].gain", f'{GAIN}, got text "2.5".'),
        (",1,1,a,3", "conversation_id", "conversation_id is missing."),
        ("c,,1,a,3", "iteration", "iteration is missing."),
        ("c,one,1,a,3", "iteration", f'{ITERATION}, got text "one".'),
        ("c,1,first,a,3", "rank", "rank must be a number, got 'first'."),
        ("c,1,1,a", None, "The row has fewer cells than the header has names."),
        ("c,1,1,a,3,4", None, "The row has more cells than the header has names."),
        ("c,1,1,\udcff,3", "results[1].url", "results[1].url has bytes that are not UTF-8 text."),
    ],
)  # fmt: skip
def test_a_bad_line_is_rejected_with_its_number_field_and_reason(file, line, field, reason):
    text = f"conversation_id,iteration,rank,url,gain\nc,1,0,b,1\n\n{line}\nd,1,1,a,1\n"
    (row,) = rejected_of(file(text.encode(errors="surrogateescape")))
    # A rank that is no number leaves the whole call without an order.
    at, field = ("2", field) if field == "rank" else ("4", field)
    reason = reason.replace("[1]", "[0]") if "\udcff" in line else reason
    assert row[:2] == (f"line {at}", field and field.replace("[1]", reason[7:10]))
    assert row[2].startswith(reason.removesuffix("."))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("conversation_id,iteration,gain,gain\nc,1,2,3\n", "names the column gain twice"),
        ('conversation_id,iteration,url\nc,1,"open\nc,2,b\n', "check its quotation marks"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_read_is_one_rejected_row(file, content, reason):
    ((position, _, text, _),) = rejected_of(file(content))
    assert position == "file"
    assert reason in text


@pytest.mark.parametrize(
    ("head", "is_csv"),
    [
        (b"conversation_id,iteration\nc,1\n", True),
        (b"a\tb\n1\t2\n", True),
        (b",conversation_id,iteration\n0,c,1\n", True),
        (b'"a";"b.c"\n1;2\n', True),
        (b"one line, with a comma\n", False),
        (b"a sentence, and\nanother one, too\n", False),
        (b'{"a": 1, "b": 2}\n{"a": 1, "b": 2}\n', False),
        (b"1,2\n3,4\n", False),
    ],
)
def test_tables_are_recognised_by_their_first_lines(head, is_csv):
    assert begins_like_csv(head) is is_csv


def test_a_table_with_one_line_is_recognised_by_its_name(file):
    path = file("conversation_id,iteration\n")
    assert rejected_of(path) == []
    assert [warning.code for warning in gg.evaluate(path).warnings] == ["empty_input"]
