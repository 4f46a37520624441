"""What people read of a gate, beside what programs read."""

import json
import re

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.studies.comparison.traces import conversation, output_of
from tests.pipeline.studies.gate.outcomes import one

pytestmark = pytest.mark.slow


def test_people_see_words_and_percentages_and_programs_numbers(tmp_path, runs, capsys):
    gate, markdown = tmp_path / "gate.yaml", tmp_path / "summary.md"
    rules = ["SRE >= 0.99", "SRR rise <= 0.01", "SRE drop <= 2 %", "recall@10 >= 0.01"]
    gate.write_text(json.dumps({"rules": rules}))
    words = [runs[1], "--config", str(gate), "--baseline", runs[0], "--markdown", str(markdown)]
    main(["gate", *words])
    printed = capsys.readouterr().out
    main(["gate", *words, "--json"])
    outcomes = json.loads(capsys.readouterr().out)["outcomes"]
    assert [outcome["rule"] for outcome in outcomes] == [
        "SRE",
        "change of SRR",
        "change of SRE",
        "recall@10",
    ]
    assert outcomes[0]["bound"] == ">= 0.99"
    share = f"{100 * float(outcomes[0]['value']):.2f} %"
    for text in (printed, markdown.read_text().replace("\\", "")):
        lines = [" ".join(line.replace("|", " ").split()) for line in text.splitlines()]
        sre, srr, drop, recall = (
            next(line for line in lines if line.startswith(start))
            for start in (
                "Good and new results (SRE)", "change of Repeated results (SRR)",
                "change of Good and new results (SRE)", "Recall (recall@10)",
            )
        )  # fmt: skip
        assert sre.startswith(f"Good and new results (SRE) {share} >= 99 %")
        assert re.search(r"SRR\) [\d.]+ % -> [\d.]+ % \([+-]?[\d.]+ pp\) rise <= 1 pp", srr)
        assert re.search(r"\([+-][\d.]+ %\) drop <= 2 %", drop)
        assert "drop <= 2 % of the baseline" in drop
        assert ">= 0.01" in recall
    assert "it is not at least 99 %" in printed


@pytest.mark.parametrize(
    ("bounds", "value", "shown"),
    [
        ({"rise_at_most": 0.4}, "0.5 -> 0.75 (+0.25)", "50.00 % -> 75.00 % (+25.00 pp)"),
        ({"rise_at_most": "60 %"}, "0.5 -> 0.75 (+50.00 %)", "50.00 % -> 75.00 % (+50.00 %)"),
        (
            {"drop_at_most": 0, "rise_at_most": "60 %"},
            "0.5 -> 0.75 (+0.25, +50.00 %)",
            "50.00 % -> 75.00 % (+25.00 pp, +50.00 %)",
        ),
    ],
)
def test_a_change_is_in_the_unit_of_its_bound(judge, tmp_path, bounds, value, shown):
    base, run = (
        output_of(tmp_path / str(at), [conversation("c", [gains])], overwrite=True)
        for at, gains in enumerate([[4, 4, 0, 0], [4, 4, 4, 0]])
    )
    outcome = one(judge([{"metric": "SRE", "least_n": 1, **bounds}], run, "--baseline", base))
    assert (outcome["value"], outcome["shown"]) == (value, shown)
    gain = one(judge(["CG drop <= 0.5"], run, "--baseline", base, least_n=1))
    assert (gain["value"], gain["shown"]) == ("8 -> 12 (+4)", "8.0000 -> 12.000 (+4.0000)")
