"""The basis of verdicts: families, intervals, populations, shared judgments."""

from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.document.numbers import interval_text
from goodgain.pipeline.results.finished_run import read_dataset, read_manifest
from tests.pipeline.studies.comparison.command import compare, error_of, row
from tests.pipeline.studies.comparison.misleading import base, search_in_few
from tests.pipeline.studies.comparison.traces import conversation, output_of

pytestmark = pytest.mark.slow

DECIDED = ("better", "worse", "changed")


def at_end(found):
    return [row for row in found["rows"] if row["i"] is None]


def test_slices_change_no_row_about_all_conversations(outputs, capsys):
    def whole(*words):
        rows = compare(capsys, *outputs, *words)["rows"]
        return [row for row in rows if not row["slice"]]

    alone = whole()
    assert alone == whole("--slice", "market", "--slice", "query_id")
    assert {row["verdict"] for row in alone} >= {"better", "not shown"}


def test_the_primary_metric_is_tested_without_correction(outputs, capsys):
    found = compare(capsys, *outputs, "--metrics", "CG", "SRE", "DCG", "--primary", "DCG")
    dcg, cg = row(found, "DCG"), row(found, "CG")
    assert (found["primary"], dcg["family"], cg["family"]) == ("DCG", "primary", "declared")
    assert dcg["p_holm"] == dcg["p_value"]
    assert (dcg["verdict_ci_low"], dcg["verdict_ci_high"]) == pytest.approx(
        (dcg["ci_low"], dcg["ci_high"])
    )
    assert dcg["verdict_confidence"] == pytest.approx(0.95)
    assert found["answer"].startswith("The candidate is better by Discounted gain (DCG): +")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("N", "N cannot be the primary metric"),
        ("CG_at_i", "CG_at_i cannot be the primary metric"),
        ("CGG", "'CGG' (did you mean 'CG'?)"),
        ("cg", "'cg' (did you mean 'CG'?)"),
    ],
)
def test_unsuitable_primary_metrics_are_refused(outputs, capsys, name, message):
    assert message in error_of(capsys, *outputs, "--primary", name)


@pytest.mark.parametrize("correction", ["holm", "benjamini_hochberg"])
def test_verdict_intervals_exclude_0_exactly_if_a_change_is_shown(outputs, capsys, correction):
    found = compare(capsys, *outputs, "--slice", "market", "--correction", correction)
    checked = 0
    for tested in found["rows"]:
        if tested["verdict_ci_low"] is None:
            assert tested["verdict"] not in DECIDED or tested["stderr"] is None
            continue
        crosses = tested["verdict_ci_low"] <= 0 <= tested["verdict_ci_high"]
        assert (tested["verdict"] in DECIDED) == (not crosses), tested["metric"]
        assert tested["verdict_ci_low"] <= tested["ci_low"] + 1e-12
        checked += 1
    assert checked > 100


def test_the_table_shows_the_interval_of_the_verdict(outputs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    dcg = row(compare(capsys, *outputs), "DCG")
    assert dcg["verdict_ci_low"] < dcg["ci_low"]
    assert main(["compare", *outputs]) == 0
    shown = interval_text("DCG", dcg["verdict_ci_low"], dcg["verdict_ci_high"])
    (line, *_) = [
        line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("Discounted gain (DCG)")
    ]
    assert f" {shown} " in line


@pytest.mark.parametrize("design", [[], ["--unpaired"], ["--slice", "market", "--sign"]])
def test_iterations_after_the_last_one_change_no_verdict(outputs, capsys, design):
    """No conversation has more than four: later rows repeat the fourth, also per iteration."""

    def rows(max_i):
        found = compare(capsys, *outputs, "--max-i", max_i, *design)["rows"]
        return [row for row in found if row["i"] is None or row["i"] <= 4]

    up_to_4 = rows(4)
    assert rows(10) == up_to_4
    first, again = (
        next(row for row in up_to_4 if (row["i"], row["population"]) == (1, population))
        for population in ("reached", "all")
    )
    assert first["p_holm"] == again["p_holm"]


def test_withheld_metrics_do_not_count_in_corrections(outputs, capsys):
    found = compare(capsys, *outputs, "--metrics", "CG", "SRE", "DCG", "ndcg@10", "recall@10")
    tested = [row for row in at_end(found) if row["family"] == "declared" and not row["reason"]]
    assert {row["metric"] for row in tested} == {"SRE", "DCG"}
    least = min(tested, key=lambda one: one["p_value"])
    assert least["p_holm"] == pytest.approx(2 * least["p_value"])
    withheld = row(found, "ndcg@10")
    assert (withheld["own_ideal"], withheld["verdict"]) == (True, "not comparable")
    assert withheld["p_holm"] is None
    assert withheld["difference"] is not None


def test_metrics_with_an_ideal_are_compared_if_judgments_are_shared(tmp_path, outputs, capsys):
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"c{at:02} 0 c{at:02}-1-0 3\n" for at in range(40)))
    runs = []
    for folder in outputs:
        inputs = read_manifest(folder)["inputs"]
        out = tmp_path / f"judged-{Path(folder).name}"
        words = ["--input", inputs[0]["path"], "--output", str(out), "--qrels", str(qrels)]
        assert main(["run", *words]) == 0
        runs.append(out)
    found = compare(capsys, *runs, "--metrics", "CG", "ndcg@10")
    ndcg = row(found, "ndcg@10")
    assert found["shared_judgments"] is True
    assert (ndcg["own_ideal"], ndcg["reason"]) == (False, None)
    forced = compare(capsys, runs[0], outputs[1], "--force", "--metrics", "CG", "ndcg@10")
    assert row(forced, "ndcg@10")["verdict"] == "not comparable"


def test_everyone_includes_conversations_without_search_with_gain_0(tmp_path, capsys):
    folders = [
        output_of(tmp_path / name, arm, metrics=["hit_rate"])
        for name, arm in (("base", base()), ("candidate", search_in_few()))
    ]
    found = compare(capsys, *folders)
    cg = row(found, "CG", population="everyone")
    total = sum(4 + 2 + 3 + 2 + (at % 5 if at % 5 >= 2 else 0) for at in range(12))
    assert cg["candidate_mean"] == pytest.approx(total / 40)
    assert row(found, "hit_rate", population="everyone")["n_base"] == 40
    at_2 = row(found, "CG_at_i", 2, "everyone")
    assert (at_2["n_base"], at_2["candidate_mean"]) == (40, pytest.approx(total / 40))
    assert row(found, "CG_at_i", 2, "reached")["verdict"] == "not comparable"
    unpaired = row(compare(capsys, *folders, "--unpaired"), "CG", population="everyone")
    assert (unpaired["n_candidate"], unpaired["verdict"]) == (40, "worse")
    same = row(compare(capsys, folders[0], folders[0]), "CG")
    assert (same["population"], same["n_base"]) == ("all", 40)


def test_everyone_is_null_for_topics_without_good_judgments(tmp_path, capsys):
    """As in the means: with qrels, R of a topic is known even if nobody searched for it."""
    qrels = tmp_path / "qrels.txt"
    with_good = [at for at in range(40) if at % 3]
    labels = {at: 3 if at in with_good else 0 for at in range(39)}  # none of the last topic
    qrels.write_text("".join(f"c{at:02} 0 c{at:02}-1-0 {label}\n" for at, label in labels.items()))
    folders = [
        output_of(
            tmp_path / name, arm, qrels=str(qrels), qrels_id="doc_id", metrics=["recall", "ndcg@3"]
        )
        for name, arm in (("base", base()), ("candidate", search_in_few()))
    ]
    found = compare(capsys, *folders, "--unpaired")
    for metric in ("recall", "ndcg@3"):
        of_metric = row(found, metric, population="everyone")
        # The first twelve search, and find all good documents.
        assert of_metric["candidate_mean"] == pytest.approx(8 / len(with_good))
        assert (of_metric["n_base"], of_metric["n_candidate"]) == (26, 26)
        assert of_metric["undefined_in_candidate"] == 14
    assert_everyone_agrees_with_the_means(found, folders[1])


def test_everyone_is_null_for_metrics_without_a_value_for_an_empty_list(tmp_path, capsys):
    """Without external judgments the number of good documents is unknown."""
    metrics = ["precision", "precision@5", "mrr", "auc", "judged", "recall", "hits", "err"]
    folders = [
        output_of(tmp_path / name, arm, metrics=metrics)
        for name, arm in (("base", base()), ("candidate", search_in_few()))
    ]
    found = compare(capsys, *folders, "--unpaired")
    precision = row(found, "precision", population="everyone")
    assert (precision["n_candidate"], precision["undefined_in_candidate"]) == (12, 28)
    assert precision["verdict"] == "not comparable"
    assert row(found, "precision@5", population="everyone")["n_candidate"] == 40
    assert_everyone_agrees_with_the_means(found, folders[1])


def assert_everyone_agrees_with_the_means(found, candidate):
    means = {
        (row["metric"], row["i"]): row
        for row in read_dataset(candidate, "means")
        if row["population"] == "everyone"
    }
    checked = 0
    for tested in found["rows"]:
        mean = means.get((tested["metric"], tested["i"]))
        if (
            tested["population"] == "everyone"
            and tested["direction"] == "higher"
            and mean is not None
        ):
            assert (tested["n_candidate"], tested["undefined_in_candidate"]) == (
                mean["n"],
                mean["undefined"],
            ), tested["metric"]
            assert tested["candidate_mean"] == pytest.approx(mean["mean"]), tested["metric"]
            checked += 1
    assert checked > 60


def test_unpaired_runs_are_not_comparable_if_one_is_null_more_often(tmp_path, capsys):
    found_nothing = [conversation(f"d{at:02}", [[0]]) for at in range(10)]
    found_some = [conversation(f"c{at:02}", [[0, 4, 0]]) for at in range(30)]
    folders = [
        output_of(tmp_path / name, arm, metrics=["auc"])
        for name, arm in (("base", found_some), ("candidate", [*found_nothing, *found_some[:10]]))
    ]
    auc = row(compare(capsys, *folders, "--unpaired"), "auc")
    assert auc["reason"] == (
        "undefined for 0.0 % of the conversations of the base, 50.0 % of the candidate's"
    )
    assert (auc["worst_base_mean"], auc["worst_candidate_mean"]) == (0.5, 0.25)


def test_verdicts_are_withheld_beyond_five_percent_of_nulls(tmp_path, capsys):
    arm = [conversation(f"c{at:02}", [[0, 4, 0]]) for at in range(20)]
    for null, withheld in ((1, False), (2, True)):
        other = [conversation(f"c{at:02}", [[0, 0 if at < null else 4, 0]]) for at in range(20)]
        folders = [
            output_of(tmp_path / f"{name}-{null}", own, metrics=["auc"])
            for name, own in (("base", arm), ("candidate", other))
        ]
        auc = row(compare(capsys, *folders, "--metrics", "auc"), "auc")
        assert (auc["reason"] is not None) == withheld
        assert auc["undefined_in_candidate"] == null
