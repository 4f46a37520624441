"""The line on what counts as good, when labels are not as great as the scale."""

import pytest

import goodgain as gg
from tests.pipeline.runs import run, write_jsonl


def traces(labels):
    results = [{"id": f"d{at}", "gain": label} for at, label in enumerate(labels)]
    return [{"conversation_id": "c", "iteration": 1, "results": results}]


@pytest.mark.parametrize(
    ("labels", "options", "line"),
    [
        (
            [0, 1, 1, 2],
            {},
            "Labels: good = label 2 or more; 50.0 % of the labels are 1; ERR assumes 4, and the "
            "greatest label met is 2.",
        ),
        (
            [0, 3, 3, 3],
            {"good_gain_threshold": 3},
            "Labels: good = label 3 or more; ERR assumes 4, and the greatest label met is 3.",
        ),
        ([0, 1, 4], {}, None),
        ([0, 1, 3], {"g_max": 3}, None),
        ([0, 0], {"allow_no_good": True}, None),
    ],
)
def test_says_what_counts_as_good(labels, options, line):
    shown = repr(gg.evaluate(traces(labels), **options))
    assert (line in shown) if line else "ERR assumes" not in shown


@pytest.mark.slow
def test_the_command_says_it_at_its_end(tmp_path, capsys):
    path = write_jsonl(tmp_path / "a.jsonl", traces([0, 1, 2, 2]))
    assert run(tmp_path / "out", [path]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "good = label 2 or more; 25.0 % of the labels are 1; ERR assumes 4" in printed
