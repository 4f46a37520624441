"""What a summary tells of the results of a run."""

import pytest
from msgspec.structs import replace

import goodgain as gg
from goodgain.pipeline.views.records import records_part
from tests.pipeline.runs import call


@pytest.mark.parametrize(
    ("duplicates", "unlabelled", "expected"),
    [
        (1, 0, "Results: 3, of which 1 is a duplicate and 0 are unlabelled."),
        (2, 1, "Results: 3, of which 2 are duplicates and 1 is unlabelled."),
    ],
)
def test_words_agree_with_the_counts_of_results(duplicates, unlabelled, expected):
    manifest = gg.evaluate([call("c", 1, [{"id": "a"}])]).manifest
    results = replace(manifest.results, total=3, duplicates=duplicates, unlabelled=unlabelled)
    *_, sentence = records_part(replace(manifest, results=results))
    assert sentence.text == expected
