from goodgain.pipeline.report.duplicate_counts import duplicate_counts
from goodgain.transforms.core.dedup.verification import Step


def test_types_are_sorted_by_frequency_and_rare_ones_combined():
    results = {f"type-{at:03}": 1_000 - at for at in range(40)}
    counts = duplicate_counts({"results_by_type": results, "duplicates_by_type": {"type-039": 5}})
    assert [one.name for one in counts.types[:2]] == ["type-000", "type-001"]
    assert counts.types[-1].name == "10 other types"
    assert counts.types[-1].duplicates == 5
    assert sum(one.results for one in counts.types) == sum(results.values())


def test_every_deciding_step_is_explained():
    pairs = {step.value: 1 for step in Step}
    counts = duplicate_counts({"duplicates_by_step": pairs, "near_misses_by_step": pairs})
    explained = {one.name for one in (*counts.duplicates, *counts.near_misses) if one.meaning}
    assert explained == {step.value.replace("_", " ") for step in Step}


def test_results_without_a_type_are_named_no_type():
    (one,) = duplicate_counts({"results_by_type": {"untyped": 3}}).types
    assert one.name == "(no type)"
