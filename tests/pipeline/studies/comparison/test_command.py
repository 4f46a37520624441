"""`goodgain compare` as a command: its JSON, text, files and error messages."""

import shlex
from math import isclose

import pytest
from scipy import stats

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_dataset, read_manifest
from tests.pipeline.studies.comparison.command import compare, error_of, row
from tests.pipeline.studies.comparison.traces import (
    conversation,
    known_difference,
    output_of,
    values_by_id,
)

pytestmark = pytest.mark.slow


def test_gsb_of_the_trap_row(tmp_path, capsys):
    # METRIC_TRAPS row 23: good 1, same 1, bad 2 gives -0.25.
    gains = {"up": (2, 4), "level": (2, 2), "down": (4, 2), "gone": (4, 0)}
    base, candidate = (
        output_of(tmp_path / name, [conversation(key, [[pair[at]]]) for key, pair in gains.items()])
        for at, name in enumerate(("base", "candidate"))
    )
    found = row(compare(capsys, base, candidate), "CG")
    assert (found["good"], found["same"], found["bad"]) == (1, 1, 2)
    assert found["gsb"] == -0.25
    tolerant = row(compare(capsys, base, candidate, "--tolerance", "0", "CG=2"), "CG")
    assert (tolerant["good"], tolerant["same"], tolerant["bad"]) == (0, 3, 1)
    capsys.readouterr()
    assert main(["compare", base, candidate]) == 0
    assert "1/1/2" in capsys.readouterr().out


def test_known_differences_of_pairs_are_reported(outputs, capsys):
    found = compare(capsys, *outputs, "--metrics", "CG")
    differences = [known_difference(number) for number in range(38)]
    cg = row(found, "CG")
    assert found["pairs"] == cg["n_base"] == cg["n_candidate"] == 38
    assert isclose(cg["difference"], sum(differences) / 38, rel_tol=1e-12)
    assert cg["good"] == sum(difference > 0 for difference in differences)
    assert cg["bad"] == sum(difference < 0 for difference in differences)
    assert (cg["only_in_base"], cg["only_in_candidate"]) == (2, 1)


def test_every_conversation_is_paired_or_counted_with_a_reason(outputs, capsys):
    found = compare(capsys, *outputs, "--metrics", "CG")
    base, candidate = found["base_account"], found["candidate_account"]
    assert base["unmatched"] == {
        "without a counterpart": 1,
        "whose counterpart did not search": 1,
    }
    assert candidate["unmatched"] == {"without a counterpart": 1, "did not search": 1}
    for account in (base, candidate):
        total = account["paired"] + sum(account["unmatched"].values())
        assert total == account["conversations"] == 40


def test_a_conversation_without_a_usable_record_is_not_said_not_to_have_searched(tmp_path, capsys):
    good = [conversation(f"c{at}", [[3]]) for at in range(3)]
    bad = [{**record, "iteration": 0} for record in conversation("c0", [[3]])]
    base = output_of(tmp_path / "base", good)
    candidate = output_of(tmp_path / "candidate", [bad, *good[1:]], max_rejected="50%")
    found = compare(capsys, base, candidate, "--metrics", "CG")
    assert found["base_account"]["unmatched"] == {"whose counterpart had rejected records": 1}
    assert found["candidate_account"]["unmatched"] == {"had rejected records": 1}
    main(["compare", str(base), str(candidate)])
    printed = " ".join(capsys.readouterr().out.split())
    assert "candidate (2 of 3 conversations; 1 had rejected records)" in printed
    assert "Of the candidate's 3 conversations, 1 is in no pair" in printed


def test_conversations_in_no_pair_are_not_said_to_be_left_out(outputs, capsys):
    """In population `everyone` those that did not search count."""
    main(["compare", *map(str, outputs)])
    printed = " ".join(capsys.readouterr().out.split())
    reasons = "1 did not search, 1 without a counterpart."
    assert f"40 conversations, 2 are in no pair in which both searched: {reasons}" in printed


@pytest.mark.parametrize("metric", ["CG", "DRAG", "SRE", "ndcg@10"])
def test_paired_statistics_equal_those_of_scipy(outputs, capsys, metric):
    found = row(compare(capsys, *outputs, "--wilcoxon", "--sign", "--interval", "student"), metric)
    before, after = (values_by_id(folder, metric) for folder in outputs)
    keys = sorted(key for key in before if None not in (before[key], after.get(key)))
    x, y = [before[key] for key in keys], [after[key] for key in keys]
    test = stats.ttest_rel(y, x)
    interval = test.confidence_interval(0.95)
    assert found["n_base"] == len(keys)
    assert found["t"] == pytest.approx(test.statistic, rel=1e-9)
    assert found["p_value"] == pytest.approx(test.pvalue, rel=1e-9)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(
        (interval.low, interval.high), rel=1e-9
    )
    differences = [round(b - a, 12) for a, b in zip(x, y, strict=True)]
    up, moved = sum(d > 0 for d in differences), sum(d != 0 for d in differences)
    assert found["sign_p"] == pytest.approx(stats.binomtest(up, moved).pvalue, rel=1e-9)


def test_unpaired_statistics_equal_those_of_scipy(outputs, capsys):
    found = compare(capsys, *outputs, "--unpaired", "--metrics", "CG", "--interval", "student")
    x, y = (list(values_by_id(folder, "CG").values()) for folder in outputs)
    test = stats.ttest_ind(y, x, equal_var=False)
    cg = row(found, "CG")
    assert found["design"] == cg["design"] == "unpaired"
    assert (cg["n_base"], cg["n_candidate"]) == (len(x), len(y))
    assert cg["p_value"] == pytest.approx(test.pvalue, rel=1e-9)
    assert cg["gsb"] is None
    assert found["examples"] is None


def test_values_by_i_agree_with_the_means_of_the_runs(outputs, capsys):
    """Unpaired, the means of the arms equal those that the runs wrote, for both populations."""
    found = compare(capsys, *outputs, "--unpaired")
    checked = 0
    for side, folder in zip(("base", "candidate"), outputs, strict=True):
        means = {
            (row["metric"], row["i"], row["population"]): row
            for row in read_dataset(folder, "means")
            if not row["slice"]
        }
        for tested in found["rows"]:
            mean = means.get((tested["metric"], tested["i"], tested["population"]))
            if mean is None:  # i beyond the longest conversation of this arm
                assert tested[f"n_{side}"] == 0
                continue
            assert tested[f"n_{side}"] == mean["n"]
            if mean["mean"] is not None:
                assert tested[f"{side}_mean"] == pytest.approx(mean["mean"], rel=1e-9)
                checked += 1
    assert checked > 400


def test_population_reached_has_the_pairs_that_reached_i_in_both_arms(outputs, capsys):
    found = row(compare(capsys, *outputs), "CG_at_i", 4, "reached")
    assert found["n_base"] == sum(number % 4 == 3 for number in range(38))
    assert row(compare(capsys, *outputs), "CG_at_i", 4, "all")["n_base"] == 38


def test_slices_divide_the_pairs(outputs, capsys):
    found = compare(capsys, *outputs, "--metrics", "CG", "--slice", "market")
    sizes = {value: row(found, "CG", market=value)["n_base"] for value in ("de", "es")}
    assert sizes == {"de": 25, "es": 0}
    # In fr the candidate does not search in 1 of 14, so the population is everyone.
    assert row(found, "CG", population="everyone", market="fr")["n_base"] == 14
    empty = row(found, "CG", market="es")
    assert empty["verdict"] == "not tested"
    assert empty["only_in_candidate"] == 1
    assert empty["note"] == "there are no pairs"


def test_corrections_apply_to_the_declared_family(outputs, capsys):
    found = compare(capsys, *outputs, "--metrics", "CG", "SRE", "DCG", "--slice", "market")
    declared = [row for row in found["rows"] if row["family"] == "declared"]
    assert {row["metric"] for row in declared} == {"SRE", "DCG"}
    for sliced, count in ((False, 2), (True, 4)):
        tested = [
            row for row in declared if row["p_value"] is not None and bool(row["slice"]) == sliced
        ]
        assert len(tested) == count
        least = min(tested, key=lambda row: row["p_value"])
        assert least["p_holm"] == pytest.approx(least["p_value"] * count)
        adjusted = stats.false_discovery_control([row["p_value"] for row in tested])
        assert [row["p_benjamini_hochberg"] for row in tested] == pytest.approx(adjusted)
        for test in tested:
            expected = "better" if test["difference"] > 0 else "worse"
            assert test["verdict"] == (expected if test["p_holm"] <= 0.05 else "not shown")


def test_bootstrap_depends_on_the_seed_but_not_on_other_metrics_or_slices(outputs, capsys):
    def interval(*words):
        found = row(compare(capsys, *outputs, "--bootstrap", "500", *words), "CG")
        return found["bootstrap_ci_low"], found["bootstrap_ci_high"]

    first = interval("--metrics", "CG")
    assert first == interval("--metrics", "SRE", "CG", "--slice", "market")
    assert first != interval("--metrics", "CG", "--seed", "2")
    assert first[0] < sum(known_difference(number) for number in range(38)) / 38 < first[1]


def test_arms_of_one_output_are_unpaired_by_default(arms, capsys):
    found = compare(capsys, arms, "--by", "arm", "--base", "A", "--metrics", "CG")
    assert found["design"] == "unpaired"
    assert (row(found, "CG")["n_base"], row(found, "CG")["n_candidate"]) == (41, 40)
    assert main(["compare", arms, "--by", "arm", "--base", "A"]) == 0
    assert "share no conversation_id" in capsys.readouterr().out


def test_arms_of_one_output_can_be_paired_by_an_attribute(arms, capsys):
    found = compare(
        capsys, arms, "--by", "arm", "--base", "A", "--candidate", "B", "--pair-by", "query_id",
        "--metrics", "CG",
    )  # fmt: skip
    assert found["pairs"] == 40
    assert found["base_account"]["repeated"] == 2
    values = values_by_id(arms, "CG")
    mean = (values["a00"] + values["again"]) / 2
    total = sum(values[f"a{number:02}"] for number in range(1, 40)) + mean
    assert row(found, "CG")["base_mean"] == pytest.approx(total / 40, rel=1e-12)


def test_swapping_the_arms_keeps_p_values_and_swaps_good_and_bad(arms, capsys):
    one = compare(capsys, arms, "--by", "arm", "--base", "A", "--pair-by", "query_id")
    other = compare(capsys, arms, "--by", "arm", "--base", "B", "--pair-by", "query_id")
    for forth, back in zip(one["rows"], other["rows"], strict=True):
        if forth["p_value"] is None:  # an i that no conversation reached
            assert back["p_value"] is None
            continue
        assert forth["p_value"] == pytest.approx(back["p_value"], rel=1e-9)
        assert (forth["good"], forth["bad"]) == (back["bad"], back["good"])


def test_wins_and_losses_come_with_commands_that_work(outputs, capsys):
    found = compare(capsys, *outputs, "--metrics", "CG", "--examples", "3")["examples"]
    assert [document["difference"] for document in found["wins"]] == [3, 3, 3]
    assert [document["key"] for document in found["wins"]] == ["c02", "c04", "c06"]
    assert [document["difference"] for document in found["losses"]] == [-2, -2, -2]
    base = values_by_id(outputs[0], "SRE")
    assert found["losses"][0]["base_numbers"]["SRE"] == base[found["losses"][0]["key"]]
    (command,) = found["wins"][0]["commands"]
    words = shlex.split(command)
    assert words[0] == "goodgain"
    assert main(words[1:]) == 0
    assert "Only in input" in capsys.readouterr().out


def test_wins_of_other_conversations_of_one_run_come_with_a_command_for_each(arms, capsys):
    words = ("--by", "arm", "--base", "A", "--pair-by", "query_id", "--metrics", "CG")
    win = compare(capsys, arms, *words)["examples"]["wins"][0]
    for command, arm in zip(win["commands"], ("base", "candidate"), strict=True):
        assert shlex.split(command)[:3] == ["goodgain", "explain", win[f"{arm}_conversation"]]
        assert main(shlex.split(command)[1:]) == 0


def test_wins_of_a_metric_where_lower_is_better_have_negative_differences(outputs, capsys):
    found = compare(capsys, *outputs, "--examples-by", "iterations_for_all_good_results")[
        "examples"
    ]
    assert all(document["difference"] < 0 for document in found["wins"])


@pytest.mark.parametrize("file_format", ["avro", "parquet", "jsonl"])
def test_written_datasets_equal_the_json(tmp_path, outputs, capsys, file_format):
    words = (*outputs, "--slice", "market", "--bootstrap", "200", "--wilcoxon", "--sign")
    folder = str(tmp_path / "out")
    found = compare(capsys, *words, "--output", folder, "--format", file_format)
    assert list(read_dataset(folder, "comparison")) == found["rows"]
    manifest = read_manifest(folder)
    assert manifest["kind"] == "comparison"
    assert manifest["examples"] == found["examples"]
    pairs = [row for row in read_dataset(folder, "differences") if row["metric"] == "CG"]
    assert {pair["key"]: pair["difference"] for pair in pairs} == {
        f"c{number:02}": known_difference(number) for number in range(38)
    }
    assert "is not empty" in error_of(capsys, *words, "--output", folder)
    assert main(["compare", *map(str, words), "--output", folder, "--overwrite"]) == 0


def test_tables_fit_eighty_columns(outputs, arms, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for words in (
        (*outputs, "--bootstrap", "200", "--wilcoxon", "--sign", "--slice", "market"),
        (*outputs, "--at", "2"),
        (arms, "--by", "arm", "--base", "A"),
    ):
        assert main(["compare", *words]) == 0
        lines = capsys.readouterr().out.splitlines()
        # Commands are not broken, so that they can be pasted.
        assert all(len(line) <= 80 for line in lines if "goodgain explain" not in line)
        assert not any("…" in line for line in lines)
