"""What `goodgain compare` refuses, and how it says so."""

import errno
import json
from pathlib import Path

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_manifest
from goodgain.pipeline.results.given_parts import qrels_part
from goodgain.pipeline.results.lock import lock_output_folder
from goodgain.transforms.core.scoring.version import SCORING_VERSION
from tests.pipeline.studies.comparison.command import compare, error_of, row
from tests.pipeline.studies.comparison.traces import conversation, output_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"good_gain_threshold": 3}, "good_gain_threshold (2 against 3)"),
        ({"g_max": 5}, "g_max (4 against 5)"),
        ({"duplicates": "hold_slot"}, "duplicates (compact against hold_slot)"),
        ({"relevance_threshold": 3}, "relevance_threshold (2 against 3)"),
        ({"without_failed": True}, "without_failed (no against yes)"),
    ],
)
def test_runs_with_other_options_are_refused_without_force(
    tmp_path, outputs, capsys, options, named
):
    other = output_of(tmp_path / "other", [conversation("c01", [[4]])], **options)
    assert named in error_of(capsys, outputs[0], other)
    forced = compare(capsys, outputs[0], other, "--force", "--metrics", "CG")
    assert named.split()[0] in [mismatch["parameter"] for mismatch in forced["forced"]]
    assert main(["compare", outputs[0], other, "--force"]) == 0
    assert f"forced although the runs differ in {named}" in " ".join(
        capsys.readouterr().out.split()
    )


JUDGMENTS = to_builtins(replace(qrels_part({"qrels.judgments": 2}, ()), digest=None))


def edit_manifest(folder, **values):
    manifest = read_manifest(folder)
    (Path(folder) / "manifest.json").write_text(json.dumps({**manifest, **values}))


def test_other_rules_and_scoring_versions_are_refused(tmp_path, outputs, capsys):
    rules = tmp_path / "rules.yaml"
    rules.write_text("types: {default: {definitive: [doc_id]}}\n")
    other = output_of(tmp_path / "other", [conversation("c01", [[4]])], rules=str(rules))
    edit_manifest(other, scoring_version=0)
    error = error_of(capsys, outputs[0], other)
    assert "rules (" in error
    assert f"scoring_version ({SCORING_VERSION} against 0)" in error
    assert "--force" in error


def test_runs_of_different_releases_with_one_scoring_version_compare(tmp_path, outputs, capsys):
    other = output_of(tmp_path / "other", [conversation("c01", [[4]]), conversation("c02", [[4]])])
    edit_manifest(other, versions={"goodgain": "99.0"})
    assert compare(capsys, outputs[0], other, "--metrics", "CG")["forced"] == []


def test_runs_with_different_judgments_are_refused(tmp_path, outputs, capsys):
    judged = [output_of(tmp_path / name, [conversation("c01", [[4]])]) for name in "abc"]
    for folder, digest in zip(judged, ("0a", "0a", "0b"), strict=True):
        edit_manifest(folder, qrels={**JUDGMENTS, "digest": digest})
    assert compare(capsys, judged[0], judged[1], "--metrics", "CG")["pairs"] == 1
    assert (
        "qrels (2 judgments with the digest 0a against 2 judgments with the digest 0b)"
        in error_of(capsys, judged[0], judged[2])
    )
    assert "qrels (none against 2 judgments" in error_of(capsys, outputs[0], judged[0])
    edit_manifest(judged[0], qrels=JUDGMENTS)
    edit_manifest(judged[1], qrels=JUDGMENTS, started="2026-01-01T00:00:00Z")
    assert "did not record" in error_of(capsys, judged[0], judged[1])


def test_judgments_are_shared_if_their_labels_are_equal(tmp_path, capsys):
    """A reordered copy at another path is shared; a changed label at the same path is not."""
    qrels, copy = tmp_path / "qrels.txt", tmp_path / "copy.txt"
    qrels.write_text("c01 0 c01-1-0 3\nc01 0 other 2\n")
    copy.write_text("c01 0 other 2\nc01 0 c01-1-0 3\n")
    arm = [conversation("c01", [[4]])]
    base = output_of(tmp_path / "base", arm, qrels=str(qrels), qrels_id="doc_id", metrics=["ndcg"])
    same = output_of(tmp_path / "same", arm, qrels=str(copy), qrels_id="doc_id", metrics=["ndcg"])
    qrels.write_text("c01 0 c01-1-0 3\nc01 0 other 4\n")
    other = output_of(
        tmp_path / "other", arm, qrels=str(qrels), qrels_id="doc_id", metrics=["ndcg"]
    )
    assert compare(capsys, base, same, "--metrics", "CG")["shared_judgments"]
    assert "qrels (2 judgments with the digest" in error_of(capsys, base, other)
    forced = compare(capsys, base, other, "--force", "--metrics", "CG", "ndcg")
    assert not forced["shared_judgments"]
    assert row(forced, "ndcg")["own_ideal"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--pair-by", "nothing"],
            "No conversation in the means has the attribute nothing of --pair-by; they have ",
        ),
        (["--metrics", "CGG"], "'CGG' (did you mean 'CG'?)"),
        (["--metrics", "recall@3"], "recall@3"),
        (["--tolerance", "-1"], "Tolerance -1"),
        (
            ["--tolerance", "SRE=5"],
            "SRE is a share, whose values differ by at most 1; 5 points are",
        ),
        (["--tolerance", "CG=some"], "Tolerance CG=some"),
        (["--examples-by", "N"], "Examples cannot be chosen by N"),
        (["--by", "arm", "--base", "A"], "give only that one"),
        (["--base", "A"], "name it with --by"),
        (["--unpaired", "--pair-by", "query_id"], "exclude each other"),
        (["--max-i", "0"], "--max-i must be at least 1"),
        (["--bootstrap", "99"], "--bootstrap must be 0 or at least 100, not 99"),
        (["--bootstrap", "1000001"], "--bootstrap must be at most 1000000"),
        (["--cluster", "markt"], "the attribute markt of --cluster; did you mean market?"),
        (["--at", "99"], "--at is 99, but metrics are compared up to i = 10: give at most 10, or"),
        (["--at", "2", "--metrics", "mrr"], "--at is 2, but no metric by iteration is compared"),
        (["--confidence", "95"], "--confidence must be less than 1, not '95'"),
    ],
)
def test_usage_errors_have_a_message_without_a_traceback(outputs, capsys, words, message):
    error = error_of(capsys, *outputs, *words)
    assert message in error
    assert "Traceback" not in error


def test_a_folder_that_a_run_writes_to_is_not_replaced(tmp_path, outputs, capsys):
    unfinished = tmp_path / "out" / ".unfinished" / "a1b2" / "means.csv"
    unfinished.parent.mkdir(parents=True)
    unfinished.touch()
    folder = str(tmp_path / "out")
    words = ["compare", *map(str, outputs), "--output", folder, "--overwrite"]
    with lock_output_folder(folder):
        assert main(words) == ExitCode.FAILED
    assert "Another run is writing to" in capsys.readouterr().err
    assert unfinished.exists()
    assert main(words) == 0


def test_wrong_folders_and_arms_are_refused(tmp_path, outputs, arms, capsys):
    assert "no output of a run in" in error_of(capsys, outputs[0], tmp_path)
    assert "1 output was given" in error_of(capsys, outputs[0])
    assert "values that occur: A, B" in error_of(capsys, arms, "--by", "arm", "--base", "C")
    assert "Give --candidate" in error_of(capsys, arms, "--by", "query_id", "--base", "q00")
    assert "Which value of arm is the base? Give --base VALUE; values that occur: A, B." in (
        error_of(capsys, arms, "--by", "arm")
    )
    assert "the attribute armm of --by; did you mean arm?" in error_of(capsys, arms, "--by", "armm")
    nothing = "the attribute nope of --by; they have arm, market, query_id."
    assert nothing in error_of(capsys, arms, "--by", "nope")
    written = tmp_path / "written"
    assert main(["compare", *outputs, "--output", str(written)]) == 0
    assert "is not the output of `goodgain run`" in error_of(capsys, outputs[0], written)


def test_unusable_output_folders_are_refused_before_comparing(
    tmp_path, outputs, capsys, monkeypatch
):
    def compare(*_):
        raise AssertionError("the comparison began")

    monkeypatch.setattr("goodgain.pipeline.studies.comparison.compare.compare", compare)
    (tmp_path / "file").write_text("mine")
    assert "is not empty" in error_of(capsys, *outputs, "--output", tmp_path)
    for run in outputs:
        link = tmp_path / "link"
        link.symlink_to(run)
        for folder in (run, f"{run}/", link):
            error = error_of(capsys, *outputs, "--output", folder, "--overwrite")
            assert "is one of the compared runs" in error
        link.unlink()


def test_a_comparison_that_fails_leaves_no_folder(tmp_path, outputs, capsys, monkeypatch):
    new = tmp_path / "new" / "out"
    error_of(capsys, *outputs, "--metrics", "nonsense", "--output", new)
    assert list(tmp_path.iterdir()) == []

    def fill(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "out/report.html")

    monkeypatch.setattr("goodgain.pipeline.views.pages.comparison.build_comparison_report", fill)
    assert main(["compare", *map(str, outputs), "--output", str(new)]) == ExitCode.FAILED
    message = f"The comparison cannot be written to {new}: No space left on device."
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
