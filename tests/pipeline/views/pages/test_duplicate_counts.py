from goodgain.pipeline.views.pages.sections.duplicates import step_counts, type_counts
from goodgain.transforms.core.dedup.verification import Step


def test_types_are_sorted_by_frequency_and_rare_ones_combined():
    results = {f"type-{at:03}": 1_000 - at for at in range(40)}
    types = type_counts(results, {"type-039": 5})
    assert [name for name, _, _ in types[:2]] == ["type-000", "type-001"]
    assert types[-1][0] == "10 other types"
    assert types[-1][2] == 5
    assert sum(total for _, total, _ in types) == sum(results.values())
    one_more = dict(list(results.items())[:31])
    assert type_counts(one_more, {})[-1] == ("1 other type", 970, 0)


def test_every_deciding_step_is_explained():
    pairs = {step.value: 1 for step in Step}
    counts = step_counts(pairs, same=True) + step_counts(pairs, same=False)
    explained = {name for name, meaning, _ in counts if meaning}
    assert explained == {step.value.replace("_", " ") for step in Step}


def test_results_without_a_type_are_named_no_type():
    assert type_counts({"untyped": 3}, {}) == [("(no type)", 3, 0)]
