"""What people read of a comparison: sentences beside its tables."""

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.studies.comparison.traces import conversation, output_of

pytestmark = pytest.mark.slow


@pytest.fixture
def text_of(capsys):
    """The printed comparison, each line with single spaces, and what went to stderr."""

    def text(*words):
        capsys.readouterr()
        assert main(["compare", *map(str, words)]) == 0
        printed = capsys.readouterr()
        return [" ".join(line.split()) for line in printed.out.splitlines()], printed.err

    return text


def test_lines_have_no_blanks_at_their_ends_in_a_pipe(outputs, capsys):
    assert main(["compare", *map(str, outputs), "--slice", "market"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("Gain (CG)") for line in lines)
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_slice_that_no_conversation_has_is_named(outputs, text_of):
    _, messages = text_of(*outputs, "--slice", "markt", "market,query_id")
    assert messages == (
        "goodgain: No conversation in the means has the attribute markt of --slice; did you mean "
        "market?\n"
    )
    assert text_of(*outputs, "--slice", "market")[1] == ""


def legend(lines, heading):
    (line,) = (line for line in lines if line.startswith(f"{heading} "))
    return line


def test_the_legend_counts_tests_that_were_made_and_explains_shown_columns_only(
    outputs, arms, text_of
):
    lines, _ = text_of(*outputs, "--metrics", "CG", "N", "R")
    assert legend(lines, "p adj.") == (
        "p adj. p value of the t-test, or of the exact test that a note names, corrected by Holm "
        "for 1 test of the declared family; Gain (CG), the primary metric, is tested by itself"
    )
    assert legend(lines, "interval").endswith(
        "; in at least 95 % of comparisons it covers the true difference, each interval by itself, "
        "not all at once"
    )
    assert legend(lines, "detect.").endswith(
        "true difference that 80 % of such comparisons find, before any correction"
    )
    assert not any(line.startswith("pp ") for line in lines)
    assert legend(lines, "GSB").startswith("GSB (good - bad) / pairs, where good pairs got better")
    assert (
        legend(lines, "at N") == "at N over all N iterations of the last turn of each conversation"
    )
    lines, _ = text_of(arms, "--by", "arm", "--base", "A", "--metrics", "SRE")
    assert "corrected" not in legend(lines, "p adj.")
    assert legend(lines, "pp") == "pp percentage points, also of the interval beside them"
    assert legend(lines, "effect") == "effect Hedges' g"
    assert not any("GSB" in line for line in lines)


def test_a_population_without_conversations_is_one_line(outputs, text_of):
    lines, _ = text_of(*outputs, "--at", "9", "--metrics", "CG", "SRE")
    assert "All conversations, at i = 9, conversations that reached it in both arms: none" in lines
    assert not any("there are no pairs" in line for line in lines)
    assert any(line.startswith("Gain so far (CG@i) ") for line in lines)


def test_a_note_on_every_metric_does_not_repeat_their_names(outputs, text_of):
    lines, _ = text_of(outputs[0], outputs[0], "--metrics", "CG", "SRE")
    assert "All of these metrics: no pair differs, so there is no interval." in lines
    assert "Warning: base and candidate are the same run, so nothing can differ." in lines


@pytest.mark.parametrize(("few", "warns"), [(1, False), (2, True), (4, True), (5, False)])
@pytest.mark.parametrize("swapped", [False, True])
def test_an_arm_of_a_few_conversations_is_warned_of(tmp_path, text_of, few, warns, swapped):
    many, some = (
        output_of(
            tmp_path / name,
            [conversation(f"{name}{at}", [[at % 5, 4 - at % 3]]) for at in range(size)],
        )
        for name, size in (("many", 30), ("some", few))
    )
    lines, _ = text_of(*((some, many) if swapped else (many, some)))
    arm = "base" if swapped else "candidate"
    warning = f"Warning (few_conversations): The {arm} has {few} conversations, which say little"
    assert any(line.startswith(warning) for line in lines) == warns


def test_no_share_is_said_to_differ_by_more_than_100_points(tmp_path, text_of):
    few = [conversation(f"{arm}{gain}", [[gain]], arm=arm) for arm in ("A", "B") for gain in (0, 4)]
    run = output_of(tmp_path / "few", few)
    lines, _ = text_of(run, "--by", "arm", "--base", "A", "--metrics", "SRE")
    assert "Good and new results (SRE) +0.0 % +0.00 >100 pp 2+2" in lines
