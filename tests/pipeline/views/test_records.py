"""What a summary tells of the results of a run."""

import pytest

from goodgain.pipeline.views.records import records_part


@pytest.mark.parametrize(
    ("duplicates", "unlabelled", "expected"),
    [
        (1, 0, "Results: 3, of which 1 is a duplicate and 0 are unlabelled."),
        (2, 1, "Results: 3, of which 2 are duplicates and 1 is unlabelled."),
    ],
)
def test_words_agree_with_the_counts_of_results(duplicates, unlabelled, expected):
    manifest = {
        "records": {"read": 1, "scored": 1},
        "conversations": dict.fromkeys(
            ("total", "in_means", "without_search", "with_rejected_records"), 1
        ),
        "results": {"total": 3, "duplicates": duplicates, "unlabelled": unlabelled},
    }
    *_, sentence = records_part(manifest)
    assert sentence.text == expected
