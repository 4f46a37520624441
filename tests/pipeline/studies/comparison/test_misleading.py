"""A candidate that finds no more than the base is never better and passes no gate (SPEC 10)."""

import json
import re

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.studies.comparison.command import compare, row
from tests.pipeline.studies.comparison.misleading import CASES
from tests.pipeline.studies.comparison.traces import output_of

pytestmark = pytest.mark.slow

METRICS = (
    "ndcg@10",
    "mrr",
    "map",
    "recall@10",
    "precision@5",
    "bpref",
    "f1@5",
    "err",
    "hit_rate",
    "auc",
)
# Rules that pass if the candidate's number is no worse than the base's.
RULES = [
    *(f"{metric} drop <= 2 %" for metric in ("CG", "ndcg@10", "mrr", "map", "recall@10", "SRE")),
    {"metric": "CG", "drop_at_most": "2 %", "proof": "of_breach"},
    {"metric": "ndcg@10", "drop_at_most": "2 %", "proof": "of_compliance"},
    "SRR rise <= 0.01",
]


@pytest.fixture(scope="module", params=CASES)
def outputs(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("misleading")
    arms = zip(("base", "candidate"), CASES[request.param](), strict=True)
    places = [output_of(folder / name, arm, metrics=list(METRICS)) for name, arm in arms]
    return request.param, *places


def test_the_candidate_is_better_by_no_metric(outputs, capsys):
    _, *folders = outputs
    found = compare(capsys, *folders)
    assert [row["metric"] for row in found["rows"] if row["verdict"] == "better"] == []


def test_every_gate_rule_against_the_base_fails_except_repetition(outputs, tmp_path, capsys):
    case, base, candidate = outputs
    path = tmp_path / "gate.yaml"
    path.write_text(json.dumps({"rules": RULES, "least_n": 2}))
    words = ["gate", candidate, "--config", str(path), "--baseline", base, "--json"]
    assert main(words) == 4
    verdicts = {
        outcome["rule"]: outcome["verdict"]
        for outcome in json.loads(capsys.readouterr().out)["outcomes"]
    }
    # SRR needs no labels and no good documents, so it fails only if few conversations search.
    repeats = verdicts.pop("change of SRR")
    assert repeats == ("failed" if case == "search in few" else "passed")
    assert set(verdicts.values()) == {"failed"}


def test_rows_have_reasons_and_worst_case_means(outputs, capsys):
    case, *folders = outputs
    found = compare(capsys, *folders)
    cg, mrr, auc, ndcg = (
        row(found, name, population=population(case, name))
        for name in ("CG", "mrr", "auc", "ndcg@10")
    )
    assert ndcg["verdict"] == "not comparable"
    assert "own ideal" in ndcg["reason"]
    if case == "labels of the base removed":
        assert cg["verdict"] == "not comparable"
        assert (
            "0.0 % of the results of the base have a label, 100.0 % of the candidate's"
            in cg["reason"]
        )
        assert (cg["base_mean"], cg["p_holm"]) == (0, None)
        assert row(found, "SRR")["verdict"] == "not shown"
    elif case == "found in few":
        assert cg["verdict"] == "worse"
        assert "undefined in one arm alone for 28 of 40 pairs (70.0 %)" in auc["reason"]
        assert (auc["undefined_in_base"], auc["worst_candidate_mean"]) == (0, 0.3)
        # A conversation that finds nothing counts with 0.
        assert (mrr["reason"], mrr["verdict"]) == (None, "worse")
        assert (mrr["base_mean"], mrr["candidate_mean"]) == (1.0, 0.3)
    else:
        assert cg["verdict"] == "worse"
        assert cg["n_base"] == 40
        srr = row(found, "SRR")
        assert srr["verdict"] == "not comparable"
        assert (
            "0.0 % of the conversations of the base did not search, 70.0 % of the candidate's"
            in (srr["reason"])
        )


def population(case, metric):
    return "everyone" if case == "search in few" else "all"


def test_the_text_shows_nulls_and_the_worst_case(outputs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    case, *folders = outputs
    assert main(["compare", *folders, "--family", "CG", "SRR", "auc", "ndcg@10"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Not comparable:" in text
    assert "own ideal" in text
    if case == "found in few":
        assert re.search(r"Area under the ROC curve 0 28 0 \S+ 0\.300 \S+ \(auc\)", text)
    if case == "search in few":
        assert "conversations that did not search count with gain 0" in text
        assert "(12 of 40 conversations; 28 did not search)" in text
