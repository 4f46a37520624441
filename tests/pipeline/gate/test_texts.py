"""What people read of a gate, beside what programs read."""

import json

import pytest

from goodgain.pipeline.__main__ import main

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
    assert [one["rule"] for one in outcomes] == [
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
        assert "rise <= 1 pp" in srr
        assert "drop <= 2 % of the baseline" in drop
        assert ">= 0.01" in recall
    assert "it is not at least 99 %" in printed
