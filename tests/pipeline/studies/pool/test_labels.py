"""`goodgain pool todo` lists unlabelled documents, and `label` adds labels that runs then use."""

import csv
import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.pool_store import read_pool
from goodgain.pipeline.studies.pool.todo import write_todo
from tests.pipeline.runs import rows, run
from tests.pipeline.studies.pool.steps import build, documents, write_runs
from tests.reference.test_pool import call, doc

# Both runs retrieve d1, A retrieves d2 first at i = 2; only d3 has a label.
RUNS = {
    "A": [
        call(doc("d1", title="=one"), doc("d3", 3), query="what"),
        call(doc("d2"), doc("d1"), iteration=2),
    ],
    "B": [call(doc("d1"), doc("d4"))],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    assert build(folder / "pool", write_runs(folder / "runs", RUNS)) == ExitCode.DONE
    return folder


@pytest.fixture
def pool(built, tmp_path):
    shutil.copytree(built / "pool", tmp_path / "pool")
    return tmp_path / "pool"


def pool_ids(pool):
    """The pool's ids of documents by their `doc_id`."""
    return {document.evidence[0].ids["doc_id"]: document.document for document in documents(pool)}


def labels(pool):
    preferred = read_pool(str(pool)).preferred
    return {
        document.evidence[0].ids["doc_id"]: document.label(preferred)
        for document in documents(pool)
    }


def todo(pool, path, *options):
    assert main(["pool", "todo", str(pool), "--output", str(path), *options]) == ExitCode.DONE


def label(pool, path, *options):
    return main(["pool", "label", str(pool), "--from", str(path), *options])


def test_todo_lists_unlabelled_documents_once_and_sorts_them_by_weight(pool, tmp_path, capsys):
    todo(pool, tmp_path / "todo.csv")
    printed = capsys.readouterr().out
    assert "3 documents without a label" in printed
    assert "2 of 6 results need no label of their own" in printed
    table = list(csv.DictReader((tmp_path / "todo.csv").open()))
    ids = pool_ids(pool)
    assert [row["document"] for row in table] == [ids["d1"], ids["d2"], ids["d4"]]
    assert table[0]["title"] == "'=one"
    assert table[0]["query"] == "what"
    assert table[0]["runs"] == "A, B"
    assert "A: c, i=1, rank 1; A: c, i=2, rank 2; B: c, i=1, rank 1" in table[0]["seen"]
    todo(pool, tmp_path / "todo.parquet")
    filled_in = pq.read_table(tmp_path / "todo.parquet").to_pylist()
    assert [row["document"] for row in filled_in] == [ids["d1"], ids["d2"], ids["d4"]]
    assert filled_in[0]["title"] == "=one"
    assert {row["gain"] for row in filled_in} == {None}
    todo(pool, tmp_path / "todo.jsonl", "--depth", "1", "--metric", "DCG")
    lines = (tmp_path / "todo.jsonl").read_text().splitlines()
    assert [json.loads(line)["document"] for line in lines] == [ids["d1"], ids["d2"]]
    assert "1 more was seen only below rank 1" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_table_to_fill_in_is_written_whole_or_not_at_all(suffix, pool, tmp_path):
    path = tmp_path / f"todo.{suffix}"
    path.write_bytes(b"filled in")

    def interrupted():
        yield from documents(pool)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_todo(interrupted(), str(path))
    assert path.read_bytes() == b"filled in"


def test_labels_from_a_filled_table_change_the_metrics(pool, built, tmp_path, capsys):
    todo(pool, tmp_path / "todo.csv")
    table = list(csv.DictReader((tmp_path / "todo.csv").open()))
    table[0]["gain"], table[1]["gain"] = "4", "2"
    with (tmp_path / "todo.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)
    before = read_pool(str(pool)).manifest.digest
    assert label(pool, tmp_path / "todo.csv", "--annotator", "ann") == ExitCode.DONE
    assert (
        "2 labels given, 0 of them replacing another; 1 line without one" in capsys.readouterr().out
    )
    assert labels(pool) == {"d1": 4, "d2": 2, "d3": 3, "d4": None}
    assert read_pool(str(pool)).manifest.digest != before
    options = ("--pool", str(pool), "--run-name", "B", "--format", "jsonl")
    assert run(tmp_path / "out", [built / "runs/B.jsonl"], *options) == ExitCode.DONE
    (row,) = rows(tmp_path / "out", "conversations")
    assert (row["CG"], row["unlabelled"]) == (4, 1)
    assert row["pool_recall"] == pytest.approx(1 / 3)
    assert row["pool_nCG"] == pytest.approx(4 / 9)


def test_keeps_the_labels_of_each_annotator(pool, tmp_path):
    ids = pool_ids(pool)
    lines = [
        {"document": ids["d1"], "gain": 4, "annotator": "ann"},
        {"document": ids["d1"], "gain": 1, "annotator": "bob"},
        {"document": ids["d3"], "gain": 0},
    ]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert label(pool, tmp_path / "l.jsonl", "--annotator", "eve") == ExitCode.DONE
    assert labels(pool) == {"d1": 1, "d2": None, "d3": 0, "d4": None}
    assert label(pool, tmp_path / "l.jsonl", "--prefer", "ann") == ExitCode.DONE
    assert labels(pool)["d1"] == 4
    assert main(["pool", "label", str(pool), "--undo", "ann"]) == ExitCode.DONE
    assert labels(pool)["d1"] == 1
    assert main(["pool", "label", str(pool), "--undo", "eve"]) == ExitCode.DONE
    assert main(["pool", "label", str(pool), "--undo", "annotator"]) == ExitCode.DONE
    assert labels(pool)["d3"] == 3


def test_rejects_invalid_lines_with_their_number(pool, tmp_path, capsys):
    ids = pool_ids(pool)
    (tmp_path / "qrels").write_text(f"q 0 {ids['d1']} 3\nq 0 nobody 1\nq 0 {ids['d2']} 5\nx\n")
    assert label(pool, tmp_path / "qrels") == ExitCode.DATA_QUALITY
    printed = capsys.readouterr()
    assert "1 label given" in printed.out
    assert "qrels:2: The pool has no document nobody." in printed.err
    assert "qrels:3: The label '5' is not a whole number from 0 to 4; if it is" in printed.err
    assert "qrels:4: A line of qrels is" in printed.err
    assert labels(pool)["d1"] == 3
    (tmp_path / "l.csv").write_text("document,gain\n,1\n")
    assert label(pool, tmp_path / "l.csv", "--json") == ExitCode.DATA_QUALITY
    assert json.loads(capsys.readouterr().out)["rejected"][0]["line"] == 2


def test_rejects_wrong_options(pool, tmp_path, capsys):
    for words, message in [
        (["label", str(pool)], "use --from FILE"),
        (["label", str(pool), "--from", str(tmp_path / "no")], "cannot be read"),
        (
            ["todo", str(pool), "--output", "x.txt"],
            "The format of x.txt is unknown: end it in .avro, .parquet, .jsonl or .csv.",
        ),
        (["todo", str(pool), "--output", "x.csv", "--depth", "0"], "must be at least 1"),
    ]:
        assert main(["pool", *words]) == ExitCode.USAGE
        assert message in capsys.readouterr().err


def test_labels_survive_an_update(pool, built, tmp_path):
    ids = pool_ids(pool)
    (tmp_path / "qrels").write_text(f"q 0 {ids['d1']} 3\n")
    assert label(pool, tmp_path / "qrels") == ExitCode.DONE
    more = write_runs(tmp_path / "more", {"C": [call(doc("d1", 0), doc("d5", 2))]})
    assert build(pool, more, "--update", str(pool)) == ExitCode.DONE
    assert labels(pool) == {"d1": 3, "d2": None, "d3": 3, "d4": None, "d5": 2}


def test_reads_tables_as_spreadsheets_write_them(pool, tmp_path, capsys):
    """With byte order mark, semicolons, Windows line ends, a note of two lines, and a short row."""
    d1, d2 = (pool_ids(pool)[name] for name in ("d1", "d2"))
    path = tmp_path / "sheet.csv"
    path.write_bytes(
        f'\ufeffdocument;gain;note\r\n{d1};3.0;"a\r\nb"\r\n\r\n{d2};1\r\nno;2\r\n'.encode()
    )
    assert label(pool, path) == ExitCode.DATA_QUALITY
    printed = capsys.readouterr()
    assert "2 labels given" in printed.out
    assert "sheet.csv:6: The pool has no document no." in printed.err
    assert (labels(pool)["d1"], labels(pool)["d2"]) == (3, 1)


def test_rejects_rows_that_do_not_fit_their_header(pool, tmp_path, capsys):
    d1 = pool_ids(pool)["d1"]
    path = tmp_path / "labels.csv"
    path.write_text(f"title,document,gain,annotator\nOne, two,{d1},3,4\nOne,{d1},3\n")
    assert label(pool, path, "--annotator", "eve") == ExitCode.DATA_QUALITY
    printed = capsys.readouterr()
    assert "0 labels given" in printed.out
    assert "labels.csv:2: The row has more cells than the header has names." in printed.err
    assert "labels.csv:3: The row has fewer cells than the header has names." in printed.err
    path.write_text(f'title,document,gain\n"One,{d1},1\n"Two",{d1},2\n')
    assert label(pool, path) == ExitCode.USAGE
    assert "the row of line 2; check its quotation marks" in " ".join(
        capsys.readouterr().err.split()
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d1;3\nd2;2\n", "have no column document (also read: document_id, doc_id, docno)"),
        ("document,note\nd1,x\n", "have no column gain (also read: label, relevance)"),
        ("document,gain\n", "has no rows; the first line of a table names its columns"),
        ("", "is empty"),
    ],
)
def test_rejects_a_table_without_labels(pool, tmp_path, capsys, text, message):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    assert label(pool, path) == ExitCode.USAGE
    assert message in " ".join(capsys.readouterr().err.split())


def test_reads_parquet(pool, tmp_path):
    rows = {"document": [pool_ids(pool)["d1"]], "gain": [4.0], "annotator": ["ann"]}
    pq.write_table(pa.table(rows), tmp_path / "labels.parquet")
    assert label(pool, tmp_path / "labels.parquet") == ExitCode.DONE
    assert labels(pool)["d1"] == 4


def test_preferred_annotator_can_change_but_must_have_labels(pool, tmp_path, capsys):
    for name, gain in (("ann", 4), ("bob", 1), ("cy", 1)):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"document,gain\n{pool_ids(pool)['d1']},{gain}\n")
        assert label(pool, path, "--annotator", name) == ExitCode.DONE
    assert labels(pool)["d1"] == 1
    assert main(["pool", "label", str(pool), "--prefer", "ann"]) == ExitCode.DONE
    assert labels(pool)["d1"] == 4
    capsys.readouterr()
    assert main(["pool", "label", str(pool), "--prefer", "anne"]) == ExitCode.USAGE
    assert "anne has no labels in" in capsys.readouterr().err
    assert main(["pool", "label", str(pool), "--undo", "bobby"]) == ExitCode.USAGE
    assert "annotators are ann (1), bob (1), cy (1)" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", ["none.csv", "none.qrels"])
def test_a_missing_file_is_named_without_an_error_number(pool, tmp_path, capsys, name):
    path = tmp_path / name
    assert main(["pool", "label", str(pool), "--from", str(path)]) == ExitCode.USAGE
    message = capsys.readouterr().err
    assert message.endswith(f"{path} cannot be read: No such file or directory.\n")
    assert "Errno" not in message


def test_rejects_a_folder_that_is_not_a_pool(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    path.write_text("document,gain\nd1,1\n")
    for options in (["--from", str(path)], ["--undo", "ann"], ["--prefer", "ann"]):
        assert main(["pool", "label", str(tmp_path / "none"), *options]) == ExitCode.USAGE
        assert "it is not a pool" in capsys.readouterr().err


def test_rejects_each_line_of_an_unknown_document(pool, tmp_path, capsys):
    path = tmp_path / "labels.csv"
    path.write_text("document,gain\nnobody,1\nnobody,2\n")
    assert label(pool, path) == ExitCode.DATA_QUALITY
    printed = capsys.readouterr()
    assert "2 rejected" in printed.out
    for line in (2, 3):
        assert f"labels.csv:{line}: The pool has no document nobody." in printed.err
