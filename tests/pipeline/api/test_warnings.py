"""Warnings in Python: those of the command, phrased for Python and emitted through `warnings`."""

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.exit_codes import ExitCode
from goodgain.transforms.core.warnings.warning import CODES
from tests.pipeline.runs import manifest, run, write_jsonl


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


LONG = [
    {"conversation_id": "c", "iteration": at, "ids.doc_id": f"d{at}", "gain": 3} for at in (1, 2)
]
# Traces, options, and the warnings that they give.
CASES = {
    "empty": ([], {}, {"empty_input"}),
    "long": (LONG, {}, {"no_results", "unknown_fields"}),
    "unlabelled": ([call(documents(3, gain=None))], {}, {"no_labels"}),
    "not good": ([call(documents(3, gain=1))], {}, {"labels_below_threshold"}),
    "few labels": (
        [call([*documents(2), {"ids": {"doc_id": "e"}}], timestamp=1)],
        {},
        {"few_labels", "odd_times"},
    ),
    "nameless": ([call([{"gain": 3, "colour": "red"}])], {}, {"unknown_fields", "no_identity"}),
    "no repeats": (
        [call([{"id": f"{i}-{at}", "gain": 3} for at in range(500)], iteration=i) for i in (1, 2)],
        {},
        {"no_duplicates"},
    ),
    "conflicts": (
        [call(documents(1)), call(documents(1, gain=0), iteration=2)],
        {},
        {"label_conflicts"},
    ),
    "judged": (
        [call([{"id": "a", "url": f"https://a.example/{at}"} for at in range(2)])],
        {"qrels": "qrels.txt"},
        {"judgments_met_again", "few_labels"},
    ),
    "labels": (
        [call(documents(1))],
        {"labels": "labels.jsonl"},
        {"rejected_labels"},
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
    write_jsonl(
        folder / "labels.jsonl", [{"conversation_id": "x", "iteration": 1, "rank": 1, "gain": 3}]
    )
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
    files = ("qrels", "labels", "pool")
    options = {
        name: str(folder / value) if name in files else value for name, value in options.items()
    }
    path = write_jsonl(tmp_path / "traces.jsonl", records)
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    run(tmp_path / "out", [path], *words)
    warned = manifest(tmp_path / "out")["warnings"]
    assert {one["code"] for one in warned} == expected
    assert gg.evaluate(path, **options).manifest["warnings"] == warned
    assert gg.evaluate(records, **options).manifest["warnings"] == warned


def test_every_code_is_compared():
    assert set().union(*(codes for _, _, codes in CASES.values())) == set(CODES)
