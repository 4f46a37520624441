"""The manifest that a run builds is the one that is written and read back."""

import pytest
from msgspec.structs import asdict, replace

import goodgain as gg
from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.results.folder import MANIFEST, manifest_json, write_manifest
from goodgain.pipeline.results.manifest_counts import FileOfRun
from goodgain.transforms.core.metric import DescribedMetric
from goodgain.transforms.core.metrics.own import own_metrics_of
from tests.pipeline.runs import call, manifest


@gg.metric(unit="results", words="Results of the first iteration", whole=True, caution="Few.")
def first_results(prefix):
    """How many results the first iteration found."""
    return prefix.iterations[0].results if prefix.iterations else None


CALLS = [
    call(f"c{at}", 1, [{"id": "a", "gain": at}, {"id": "a"}], attributes={"query": "ab"[at % 2]})
    for at in range(4)
] + [call("idle", 1, action="answer", outcomes={"correct": 1})]
QRELS = {"c1": {"a": 3}, "c2": {"b": 1}}
CASES = {
    "nothing": {},
    "labels": {"labels": [{"conversation_id": "c1", "iteration": 1, "rank": 2, "gain": 4}]},
    "judgments": {"qrels": QRELS, "exclude": {"c1": ["b"]}},
    "outcomes": {"outcomes": [{"conversation_id": "c0", "correct": 0}], "outcome": ["correct>=1"]},
    "clusters, own metric": {"cluster": "query", "metrics": ["ndcg@10", first_results]},
}


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_reading_back_gives_what_the_run_built(options, tmp_path):
    built = gg.evaluate(CALLS, allow_unlabelled=True, **options).manifest
    write_manifest(str(tmp_path), built)
    assert read_run(str(tmp_path)) == built
    assert manifest_json(read_run(str(tmp_path))) == (tmp_path / MANIFEST).read_bytes()


def test_a_run_writes_what_it_was_not_given_nowhere(tmp_path):
    built = gg.evaluate(CALLS, allow_unlabelled=True).manifest
    write_manifest(str(tmp_path), built)
    content = manifest(tmp_path)
    for given in ("qrels", "aspect_qrels", "exclude", "labels", "outcome_rows", "pool"):
        assert given not in content
    assert "without_cluster" not in content["conversations"]
    assert "excluded" not in content["results"]


def test_files_that_changed_or_went_and_odd_names_are_read_back(tmp_path):
    built = gg.evaluate(CALLS, allow_unlabelled=True).manifest
    inputs = (FileOfRun("same", 1), FileOfRun("longer", 1, 2), FileOfRun("gone \udcff", 1, None))
    write_manifest(str(tmp_path), replace(built, inputs=inputs))
    assert read_run(str(tmp_path)).inputs == inputs
    assert manifest(tmp_path)["inputs"] == [
        {"path": "same", "size": 1},
        {"path": "longer", "size": 1, "size_after": 2},
        {"path": "gone \udcff", "size": 1, "size_after": None},
    ]


def test_a_metric_of_the_user_is_known_again_by_all_of_its_description():
    described = first_results.described
    assert asdict(described) == {
        name: getattr(first_results, name) for name in DescribedMetric.__struct_fields__
    }
    (known,) = own_metrics_of([described])
    assert known.described == described
    assert known.so_far.name == "first_results_at_i"
