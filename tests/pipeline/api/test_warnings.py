"""Warnings in Python: those of the command, phrased for Python and emitted through `warnings`."""

import re
import warnings

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.transforms.core.warnings.codes import CODES
from tests.pipeline.runs import as_written, manifest, run, write_jsonl


def call(results, conversation="c", iteration=1, **more):
    return {
        "conversation_id": conversation,
        "iteration": iteration,
        "results": results,
        "attributes": {"query": "q"},
        **more,
    }


def documents(number, **more):
    return [{"ids": {"doc_id": f"d{at}"}, "gain": 3, **more} for at in range(number)]


HITS = [
    {"conversation_id": "c", "iteration": at, "hits": [{"id": f"d{at}", "gain": 3}]}
    for at in (1, 2)
]
# Traces, options, and the warnings that they give.
CASES = {
    "empty": ([], {}, {"empty_input"}),
    "hits": (HITS, {}, {"no_results", "unknown_fields"}),
    "unlabelled": ([call(documents(3, gain=None))], {}, {"no_labels"}),
    "not good": ([call(documents(3, gain=1))], {}, {"labels_below_threshold"}),
    "not relevant": (
        [call(documents(3, gain=2))],
        {"relevance_threshold": 3},
        {"labels_below_relevance_threshold"},
    ),
    "few labels": (
        [call([*documents(2), {"ids": {"doc_id": "e"}}], timestamp=1)],
        {},
        {"few_labels", "odd_times"},
    ),
    "nameless": ([call([{"gain": 3, "colour": "red"}])], {}, {"unknown_fields", "no_identity"}),
    "no repeats": (
        [call([{"id": f"{i}-{at}", "gain": 3} for at in range(500)], iteration=i) for i in (1, 2)],
        {},
        {"no_duplicates", "beyond_cutoff"},
    ),
    "spans as conversations": (
        [
            call([{"id": f"{i}-{at}", "gain": 3} for at in range(500)], conversation_id=f"span-{i}")
            for i in (1, 2)
        ],
        {},
        {"only_one_iteration"},
    ),
    "conflicts": (
        [call(documents(1)), call(documents(1, gain=0), iteration=2)],
        {},
        {"label_conflicts"},
    ),
    "passages": (
        [
            call(
                [
                    {"url": f"https://a.org/{at}", "content": f"text {i}", "gain": 2 * i}
                    for at in range(50)
                ],
                iteration=i,
            )
            for i in (1, 2)
        ],
        {},
        {"labels_of_passages"},
    ),
    "conflicts in a pool": (
        [call(documents(1), "a"), call(documents(1, gain=0), "a", iteration=2)],
        {"pool": "pool", "run_name": "a"},
        {"label_conflicts", "labels_below_threshold", "labels_apart"},
    ),
    "uneven clusters": (
        [
            call(documents(2 + at % 3), f"c{at}", attributes={"query": "q" if at > 3 else f"q{at}"})
            for at in range(20)
        ],
        {"cluster": "query"},
        {"few_effective_clusters"},
    ),
    "found in few": (
        [call(documents(1, gain=3 if at < 5 else 0), f"c{at}") for at in range(12)],
        {},
        {"mostly_undefined"},
    ),
    "positions as ids": (
        [
            call(
                [
                    {"ids": {"doc_id": at}, "url": f"https://e.org/{i}{at}", "title": f"{i}{at}"}
                    | {"gain": 3}
                    for at in "12345678"
                ],
                iteration=i,
            )
            for i in (1, 2, 3, 4)
        ],
        {},
        {"ids_contradicted"},
    ),
    "beyond the cutoff": (
        [
            call([{"id": f"{i}-{at}", "gain": 3} for at in range(12)], iteration=i)
            for i in (1, 2, 3)
        ],
        {},
        {"beyond_cutoff"},
    ),
    "beyond the cutoff of lists that calls have, too": (
        [
            call([{"id": f"{i}-{at}", "gain": 3} for at in range(12)], iteration=i)
            for i in (1, 2, 3)
        ],
        {"per_call": True},
        {"beyond_cutoff"},
    ),
    "failed calls": (
        [call(documents(1)), call([], iteration=2, error="timeout")],
        {},
        {"calls_failed"},
    ),
    "judged under another form": (
        [call([{"id": "a%62", "gain": 3}])],
        {"qrels": "plain.txt"},
        {"similar_names", "no_labels"},
    ),
    "judged": (
        [call([{"id": "a", "url": f"https://a.example/{at}"} for at in range(2)])],
        {"qrels": "qrels.txt"},
        {"judgments_met_again", "few_labels"},
    ),
    "without topic": (
        [
            call([{"id": "a"}], attributes={"query": "x"}),
            call([{"id": "b"}], iteration=2, attributes={"query": "c"}),
            call([{"id": "b"}], conversation="d", attributes={}),
        ],
        {"qrels": "qrels.txt", "qrels_topic": "query"},
        {"conversations_without_topic", "conversations_with_several_topics", "few_labels"},
    ),
    "redelivered": (
        [call([{"id": at, "gain": 3}], call=0) for at in "abc"],
        {},
        {"conflicting_redeliveries"},
    ),
    "labels": (
        [call(documents(1))],
        {"labels": "labels.jsonl"},
        {"rejected_labels"},
    ),
    "outcomes": (
        [call(documents(1))],
        {"outcomes": "outcomes.csv"},
        {"rejected_outcomes"},
    ),
    "pool": (
        [call([{"title": "A title", "gain": 3}, *documents(20)], conversation="a")],
        {"pool": "pool", "run_name": "a"},
        {"outside_pool", "weak_documents", "labels_apart"},
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that options name: judgments, labels and a pool with far apart labels."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "qrels.txt").write_text("c 0 a 3\n")
    (folder / "plain.txt").write_text("c 0 ab 3\n")
    write_jsonl(
        folder / "labels.jsonl", [{"conversation_id": "x", "iteration": 1, "rank": 1, "gain": 3}]
    )
    (folder / "outcomes.csv").write_text("conversation_id,correct\nx,1\n")
    words = ["pool", "build", "--topic", "query", "--output", str(folder / "pool")]
    for name, gain in (("a", 0), ("b", 4)):
        path = write_jsonl(
            folder / f"{name}.jsonl", [call(documents(20, gain=gain), conversation=name)]
        )
        words += ["--run", f"{name}={path}"]
    assert main(words) == ExitCode.DONE
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_warning_of_the_command_is_given_by_evaluate(case, folder, tmp_path):
    records, options, expected = CASES[case]
    files = ("qrels", "labels", "outcomes", "pool")
    options = {
        name: str(folder / value) if name in files else value for name, value in options.items()
    }
    path = write_jsonl(tmp_path / "traces.jsonl", records)
    words = [
        f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
        for name, value in options.items()
    ]
    run(tmp_path / "out", [path], *words)
    warned = manifest(tmp_path / "out")["warnings"]
    assert {warning["code"] for warning in warned} == expected
    conflicts = " ".join(
        warning["message"] for warning in warned if warning["code"] == "label_conflicts"
    )
    assert ("The label in the pool counts" in conflicts) == ("pool" in options and bool(conflicts))
    assert as_written(gg.evaluate(path, **options).manifest)["warnings"] == warned
    assert as_written(gg.evaluate(records, **options).manifest)["warnings"] == warned

    with pytest.warns(gg.GoodGainWarning) as caught:
        run_of = gg.evaluate(records, **options)
    texts = [str(warning.message) for warning in caught]
    assert [text.split(":")[0] for text in texts[: len(warned)]] == [
        warning["code"] for warning in warned
    ]
    assert not re.search(r"--[a-z]", re.sub("`goodgain [^`]*`", "", " ".join(texts) + repr(run_of)))


def test_every_code_is_compared():
    assert set().union(*(codes for _, _, codes in CASES.values())) == set(CODES)


def warnings_of(traces, **options):
    with pytest.warns(gg.GoodGainWarning) as caught:
        gg.evaluate(traces, **options)
    assert {warning.filename for warning in caught} == {__file__}
    return [str(warning.message) for warning in caught]


def test_notes_of_the_command_are_warnings(tmp_path, capsys):
    """Those on names that no conversation has, and on rejected records."""
    records = [*(call(documents(1), conversation=f"c{at}") for at in range(3)), {"iteration": 1}]
    options = {"slices": ["mrket"], "cost": ["tokns"], "cluster": "qury", "outcome": ["corect"]}
    found = warnings_of(records, **options)
    assert found[0].startswith("rejected_records: Rejected: 1 of 4 records")
    notes = [sentence.removeprefix("unknown_names: ") for sentence in found[1:]]
    assert notes == [
        "Costs: no conversation has tokns in all its calls; is it misspelt?",
        "Outcomes: no conversation has corect; is it misspelt?",
        "Slices: no conversation has the attribute mrket; is it misspelt?",
        "No two conversations share qury; is it misspelt?",
    ]
    path = write_jsonl(tmp_path / "a.jsonl", records)
    words = ["--slice", "mrket", "--cost", "tokns", "--cluster", "qury", "--outcome", "corect"]
    run(tmp_path / "out", [path], *words, "--max-rejected", "50%")
    printed = capsys.readouterr().out
    for line in notes:
        assert line in printed
    in_warnings = gg.evaluate(records, **options).warnings
    assert found == [f"{warning.code}: {warning.message}" for warning in in_warnings]
    assert [(warning.count, warning.share) for warning in in_warnings] == [(1, 0.25)] + [
        (1, None)
    ] * 4


def test_a_run_of_which_everything_was_rejected_is_refused(tmp_path):
    records = [{"iteration": 1, "results": []}, {"conversation_id": "c", "iteration": 0}]
    path = write_jsonl(tmp_path / "a.jsonl", records)
    assert run(tmp_path / "out", [path]) == ExitCode.DATA_QUALITY
    for traces in (path, records):
        with pytest.raises(gg.GoodGainError, match=r"Rejected: all of 2 .* max_rejected='100%'"):
            gg.evaluate(traces)
        returned = gg.evaluate(traces, max_rejected="100%")
        assert [warning.code for warning in returned.warnings][-1] == "rejected_records"
    assert len(gg.evaluate([*records, call(documents(1))]).conversations) == 1


def test_accepted_warnings_are_not_emitted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_of = gg.evaluate([call(documents(3, gain=None))], allow_unlabelled=True)
        assert [warning.code for warning in run_of.warnings] == ["no_labels"]


@pytest.mark.parametrize("nothing", [[], [{"id": "bad", "gain": 0}]], ids=["no results", "bad"])
def test_what_only_few_conversations_define_is_said(nothing):
    calls = [call([{"id": "good", "gain": 3}], f"found {at}") for at in range(10)]
    calls += [call(nothing, f"missed {at}") for at in range(90)]
    evaluated = gg.evaluate(calls, metrics=["mrr", "map"])
    assert (evaluated["mrr"].mean, evaluated["mrr"].n) == (0.1, 100)
    assert (evaluated["map"].mean, evaluated["map"].n) == (1.0, 10)
    (warning,) = [warning for warning in evaluated.warnings if warning.code == "mostly_undefined"]
    assert "map of 10 of 100" in warning.message
