"""The summary of `goodgain convert` uses singular and plural by the counts."""

import pytest
from msgspec.structs import fields

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.document.terminal import text_of
from goodgain.pipeline.views.import_summary import import_document


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (
            1,
            [
                "out: 1 conversation, ",
                "of 1 record read; 1 result has a label.",
                "1  call found",
                "1  conversation is a single trace",
                "1  answer is cut off",
                "1  search lay within",
                "1  search failed",
                "1  call reports its tokens",
            ],
        ),
        (
            2,
            [
                "out: 2 conversations, ",
                "of 2 records read; 2 results have a label.",
                "2  calls f",
                "2  conversations are single traces",
                "2  answers are cut",
                "2  searches lay within",
                "2  searches failed",
                "2  calls report their tokens",
            ],
        ),
    ],
)
def test_counts_and_their_words_agree(number, expected):
    whole = {field.name: number for field in fields(ImportCounts) if field.type is int}
    counts = ImportCounts(**whole)
    counts.costs["tokens"] = number
    text = text_of(import_document("out", counts))
    assert [words for words in expected if words not in text] == []
