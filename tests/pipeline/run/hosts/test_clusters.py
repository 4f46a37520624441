"""Repeated runs of a query from the command line: run, compare and gate by cluster (SPEC 6)."""

import json
import warnings
from math import sqrt

import numpy as np
import pytest
from scipy import stats

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_dataset, read_manifest
from tests.pipeline.runs import run, write_jsonl
from tests.pipeline.studies.comparison.traces import conversation, output_of

pytestmark = pytest.mark.slow

QUERIES, REPEATS = 12, 4
ALONE = conversation("alone", [[4, 4]])


def repeats(name, generator, more=0):
    """Similar conversations for each query, each with `more` additional good results."""
    made = []
    for query in range(QUERIES):
        usual = generator.integers(0, 6)
        for repeat in range(REPEATS):
            found = 1 + usual + generator.integers(0, 2) + more
            made.append(
                conversation(f"{name}-{query}-{repeat}", [[2] * int(found)], query_id=f"q{query}")
            )
    return made


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repeats")
    base = [*repeats("c", np.random.default_rng(1)), ALONE]
    candidate = [*repeats("c", np.random.default_rng(1), more=1), ALONE]
    return tuple(
        output_of(folder / name, records, cluster="query_id", format="avro")
        for name, records in (("base", base), ("candidate", candidate))
    )


def cg_by_query(folder):
    groups = {}
    for row in read_dataset(folder, "conversations"):
        key = row["attributes"].get("query_id") or row["conversation_id"]
        groups.setdefault(key, []).append(row["CG"])
    return groups


def test_means_have_intervals_by_cluster(outputs):
    groups = list(cg_by_query(outputs[0]).values())
    values = np.concatenate(groups)
    count, mean = len(groups), values.mean()
    squares = sum((sum(group) - len(group) * mean) ** 2 for group in groups)
    stderr = sqrt(count / (count - 1) * squares) / len(values)
    (row,) = (
        row
        for row in read_dataset(outputs[0], "means")
        if (row["metric"], row["i"], row["population"]) == ("CG", None, "all")
    )
    assert (row["n"], row["clusters"], row["interval"]) == (49, 13, "clusters")
    assert row["stderr"] == pytest.approx(stderr, rel=1e-9)
    half_width = stats.t.ppf(0.975, count - 1) * stderr
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(
        (mean - half_width, mean + half_width), rel=1e-9
    )
    assert row["intraclass_correlation"] > 0.5
    within = sum(((np.array(group) - np.mean(group)) ** 2).sum() for group in groups) / (49 - 13)
    reciprocals = sum(1 / len(group) for group in groups)
    assert row["stderr_within"] == pytest.approx(sqrt(within * reciprocals) / 13)
    manifest = read_manifest(outputs[0])
    assert manifest["parameters"]["cluster"] == "query_id"
    assert manifest["conversations"]["without_cluster"] == 1


def run_and_print(folder, capsys, conversations, cluster):
    records = [record for records in conversations for record in records]
    traces = write_jsonl(folder / "traces.jsonl", records)
    capsys.readouterr()
    assert run(folder / "out", [traces], "--cluster", cluster) == 0
    return capsys.readouterr().out


def test_run_reports_the_change_that_its_clusters_can_detect(tmp_path, capsys):
    records = repeats("c", np.random.default_rng(1))
    printed = run_and_print(tmp_path, capsys, records, "query_id")
    assert "Clusters by query_id. Smallest true change that one two-sided test at 5 %" in printed
    table = printed[printed.index("Clusters by") :].splitlines()
    (line,) = (line for line in table if line.startswith("Gain (CG) "))
    _, _, clusters, share, sign, paired, other = line.split()
    assert (clusters, sign) == ("12", "%")
    assert float(share) > 80
    assert float(paired) < float(other) / 2


def test_run_reports_no_detectable_change_of_uneven_clusters(tmp_path, capsys):
    records = [conversation(f"c{at}", [[2] * (1 + at % 4)], q=f"q{min(at, 4)}") for at in range(34)]
    printed = run_and_print(tmp_path, capsys, records, "q")
    table = printed[printed.index("Clusters by") :].splitlines()
    (line,) = (line for line in table if line.startswith("Gain (CG) "))
    assert line.split()[-2:] == ["-", "-"]
    assert "No `paired` or `unpaired` where a few clusters have most of the" in printed


def test_a_misspelt_attribute_is_reported(tmp_path, capsys):
    records = repeats("c", np.random.default_rng(1))
    printed = run_and_print(tmp_path, capsys, records, "query")
    assert "\n\nNo two conversations share query; is it misspelt?\n\nConversations: " in printed


def compare(capsys, *words):
    capsys.readouterr()
    assert main(["compare", *words, "--metrics", "CG", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (row,) = (
        row
        for row in found["rows"]
        if (row["metric"], row["i"], row["population"]) == ("CG", None, "all")
    )
    return found, row


def test_comparisons_use_the_clusters_of_the_runs(outputs, capsys):
    found, row = compare(capsys, *outputs)
    assert (found["cluster"], row["clusters"], row["n_base"]) == ("query_id", 13, 49)
    before, after = map(cg_by_query, outputs)
    differences = {key: np.subtract(after[key], before[key]) for key in before}
    flat = np.concatenate(list(differences.values()))
    squares = sum(
        (difference.sum() - len(difference) * flat.mean()) ** 2
        for difference in differences.values()
    )
    assert row["stderr"] == pytest.approx(sqrt(13 / 12 * squares) / 49)
    assert row["degrees_of_freedom"] == 12


def test_shared_queries_cancel_out_in_unpaired_comparisons(outputs, capsys):
    _, row = compare(capsys, *outputs, "--unpaired")
    assert (row["design"], row["clusters"]) == ("unpaired", 14)  # one conversation has no query
    before, after = map(cg_by_query, outputs)
    means = [np.concatenate(list(arm.values())).mean() for arm in (before, after)]

    def deviation(arm, mean, key):
        return (sum(arm[key]) - len(arm[key]) * mean) / 49

    squares = sum(deviation(before, means[0], key) ** 2 for key in ("alone",))
    squares += sum(deviation(after, means[1], key) ** 2 for key in ("alone",))
    for key in before.keys() - {"alone"}:
        squares += (deviation(after, means[1], key) - deviation(before, means[0], key)) ** 2
    assert row["stderr"] == pytest.approx(sqrt(14 / 13 * squares))
    assert row["degrees_of_freedom"] == 12


def test_pairs_by_the_cluster_attribute_are_independent(outputs, capsys):
    found, row = compare(capsys, *outputs, "--pair-by", "query_id")
    assert (found["cluster"], row["clusters"], row["n_base"]) == (None, None, 12)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cluster", "query"], "No conversation in the means has the attribute query"),
        (["--sign"], "assume independent pairs"),
    ],
)
def test_rejects_options_that_do_not_fit_the_clusters(outputs, capsys, words, message):
    capsys.readouterr()
    assert main(["compare", *outputs, *words]) == 2
    assert message in capsys.readouterr().err


def test_comparison_reports_its_clusters(outputs, capsys):
    capsys.readouterr()
    assert main(["compare", *outputs]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Clusters by query_id: 13 have a value of Gain (CG)" in printed


def test_a_comparison_without_metrics_at_n_reports_its_clusters_at_i(outputs, capsys):
    capsys.readouterr()
    assert main(["compare", *outputs, "--metrics", "CG_at_i", "--at", "1"]) == 0
    printed = capsys.readouterr().out
    assert "Clusters by query_id: 13 have a value of Gain so far (CG@i) at i = 1" in printed
    assert gg.compare(*outputs, metrics="CG_at_i").rows


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    """Records of two runs; one query has 30 of 34 conversations: 34^2 / (30^2 + 4) = 1.3."""
    folder = tmp_path_factory.mktemp("uneven")

    def outputs_of(**options):
        return tuple(
            output_of(
                folder / f"{name}{len(options)}",
                [
                    conversation(f"c{at}", [[2] * (1 + more * at % 4)], q=f"q{min(at, 4)}")
                    for at in range(34)
                ],
                **options,
            )
            for name, more in (("base", 0), ("candidate", 1))
        )

    return {"plain": outputs_of(), "clustered": outputs_of(cluster="q")}


UNEVEN = "clusters by q differ so much in size that they weigh like 1.3 of the same size"


@pytest.mark.parametrize("runs", ["plain", "clustered"])
@pytest.mark.parametrize("more", [(), ("--quiet",)])
@pytest.mark.parametrize("design", [(), ("--unpaired",)])
def test_a_comparison_of_uneven_clusters_warns_once(uneven, capsys, runs, more, design):
    remedy = "pair by q (--pair-by q), so that each weighs the same."
    if design:
        remedy = f"if both arms have the same values of q, {remedy}"
    capsys.readouterr()
    assert main(["compare", *uneven[runs], "--cluster", "q", *design, *more]) == 0
    printed = " ".join("".join(capsys.readouterr()).split())
    assert printed.count("few_effective_clusters") == printed.count(UNEVEN) == 1
    assert (
        "so intervals are too narrow and p values too small. Take more clusters, or clusters of "
        f"more equal size; or {remedy}"
    ) in printed
    if not more:
        assert "Clusters by q: 5 have a value of Gain (CG). " in printed


@pytest.mark.parametrize("runs", ["plain", "clustered"])
def test_json_and_report_have_the_warning_of_uneven_clusters(uneven, tmp_path, capsys, runs):
    output = tmp_path / "out"
    found, row = compare(capsys, *uneven[runs], "--cluster", "q", "--output", str(output))
    assert row["effective_clusters"] == pytest.approx(34**2 / 904)
    (warning,) = found["warnings"]
    assert (warning["code"], warning["count"]) == ("few_effective_clusters", 5)
    assert UNEVEN in warning["message"]
    assert found["base"]["warnings"] == found["candidate"]["warnings"] == []
    assert (output / "report.html").read_text().count(UNEVEN) == 1
    with pytest.warns(gg.GoodGainWarning, match=r'or pair by q \(pair_by="q"\)') as given:
        gg.compare(*uneven[runs], cluster="q")
    assert len(given) == 1


def test_pairs_by_an_uneven_cluster_give_no_warning(uneven, capsys):
    """Each pair is the mean of a cluster, so all weigh the same."""
    capsys.readouterr()
    assert main(["compare", *uneven["clustered"], "--pair-by", "q"]) == 0
    assert "Warning" not in "".join(capsys.readouterr())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gg.compare(*uneven["clustered"], pair_by="q")


def outcome(tmp_path, capsys, folders, rule, **gate):
    """The outcome of one rule on a run, with its baseline."""
    path = tmp_path / "gate.yaml"
    path.write_text(json.dumps({"rules": [rule], **gate}))
    capsys.readouterr()
    main(["gate", folders[1], "--config", str(path), "--baseline", folders[0], "--json"])
    (found,) = json.loads(capsys.readouterr().out)["outcomes"]
    return found


def verdict(*args, **gate):
    return outcome(*args, **gate)["verdict"]


def test_gates_judge_by_clusters(tmp_path, outputs, capsys):
    """The rule passes up to the one-sided 95 % bound of the mean, with 12 degrees of freedom."""
    (row,) = (
        row
        for row in read_dataset(outputs[1], "means")
        if (row["metric"], row["i"], row["population"]) == ("CG", None, "all")
    )
    low = float(row["mean"] - stats.t.ppf(0.95, 12) * row["stderr"])
    rule = {"metric": "CG", "proof": "of_compliance"}
    assert verdict(tmp_path, capsys, outputs, {**rule, "at_least": low - 1e-6}) == "passed"
    assert verdict(tmp_path, capsys, outputs, {**rule, "at_least": low + 1e-6}) == "failed"


def test_gates_judge_changes_by_clusters(tmp_path, outputs, capsys):
    """The clusters are those of the runs, or else those in the gate file."""
    _, change = compare(capsys, *outputs)
    high = float(change["difference"] + stats.t.ppf(0.95, 12) * change["stderr"])
    rule = {"metric": "CG", "proof": "of_compliance"}
    within, beyond = ({**rule, "rise_at_most": high + more} for more in (1e-6, -1e-6))
    assert verdict(tmp_path, capsys, outputs, within) == "passed"
    assert verdict(tmp_path, capsys, outputs, beyond) == "failed"
    plain = tuple(
        output_of(tmp_path / name, [*repeats("c", np.random.default_rng(1), more), ALONE])
        for name, more in (("base", 0), ("candidate", 1))
    )
    by_query = {"cluster": "query_id"}
    assert verdict(tmp_path, capsys, plain, beyond) == "passed"  # 48 degrees of freedom
    assert verdict(tmp_path, capsys, plain, within, **by_query) == "passed"
    assert verdict(tmp_path, capsys, plain, beyond, **by_query) == "failed"


@pytest.mark.parametrize("bound", ["rise_at_most", "drop_at_most", "at_least", "at_most"])
@pytest.mark.parametrize("proof", ["of_compliance", "of_breach"])
def test_gates_say_that_uneven_clusters_make_an_interval_too_narrow(
    tmp_path, uneven, capsys, bound, proof
):
    """Whether the rule passes or not; and only where its verdict rests on an interval."""
    note = "1.3 effective clusters: interval too narrow"
    for limit in (0.01, 100):
        rule = {"metric": "CG", bound: limit, "proof": proof}
        assert outcome(tmp_path, capsys, uneven["clustered"], rule)["reason"].endswith(f"; {note}")
        plain = {"metric": "CG", bound: limit}
        if bound.endswith("_at_most"):  # a change, which is proven unless said otherwise
            plain["proof"] = "none"
        assert note not in outcome(tmp_path, capsys, uneven["clustered"], plain)["reason"]
        assert note not in outcome(tmp_path, capsys, uneven["plain"], rule)["reason"]
    rule = {"metric": "CG", "pair_by": "q", "drop_at_most": 1, "proof": proof}
    assert note not in outcome(tmp_path, capsys, uneven["clustered"], rule)["reason"]


def test_gates_judge_uneven_clusters_of_the_gate_file(tmp_path, uneven, capsys):
    rule = {"metric": "CG", "drop_at_most": 1, "proof": "of_compliance"}
    found = outcome(tmp_path, capsys, uneven["plain"], rule, cluster="q")
    assert found["reason"].endswith("; 1.3 effective clusters: interval too narrow")
