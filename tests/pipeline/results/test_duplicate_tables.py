"""Tables of duplicates have the rows of the scores that they are made of."""

from random import Random

import msgspec
import pyarrow as pa
import pytest

from goodgain.pipeline.results import duplicate_tables, rows
from goodgain.pipeline.results.datasets import DUPLICATES
from goodgain.pipeline.results.parquet_rows import arrow_table
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from tests.adversarial import trace
from tests.core.direct import score, score_one, shipped_rules

encode = msgspec.msgpack.Encoder(order="sorted").encode
decode = msgspec.msgpack.Decoder(duplicate_tables.FoundDuplicates).decode


def tables_of(scores):
    return list(duplicate_tables.duplicate_tables(decode(encode(score)) for score in scores))


@pytest.mark.slow
@pytest.mark.parametrize(("rows_at_once", "most_tables"), [(1, 80), (50, 20), (10_000, 1)])
def test_rows_are_those_of_the_scores(rows_at_once, most_tables, monkeypatch):
    monkeypatch.setattr(duplicate_tables, "ROWS_AT_ONCE", rows_at_once)
    records = trace(Random(rows_at_once), conversations=80)
    by_conversation = score(records, shipped_rules(), per_call=True)
    scores = [by_conversation[name] for name in sorted(by_conversation)]
    expected = [row for score in scores for row in rows.duplicate_rows(score)]
    assert {row[name] for row in expected for name in ("entity_type", "gain", "clause")} > {None}
    found = tables_of(scores)
    assert 1 <= len(found) <= most_tables
    assert sum(table.num_rows for table in found) == len(expected)
    for table in found:
        table.validate(full=True)
        part, expected = expected[: table.num_rows], expected[table.num_rows :]
        assert table.equals(arrow_table(DUPLICATES, part))


@pytest.mark.parametrize(("results", "number_bytes"), [(127, 1), (128, 4), (40_000, 4)])
def test_numbers_take_one_byte_if_that_is_enough_for_all(results, number_bytes):
    found = score_one([{"results": [{"id": "a"}] * results}])
    assert found.duplicate_table.number_bytes == number_bytes
    assert found.duplicate_table.row_count == results - 1
    assert [row.rank for row in found.duplicates] == list(range(2, results + 1))
    small = score_one([{"results": [{"id": "a"}] * 3}])
    ranks = pa.concat_tables(tables_of([found, small]))["rank"].to_pylist()
    assert ranks == [*range(2, results + 1), 2, 3]


def test_scores_without_duplicates_make_no_table():
    records = [{"conversation_id": "c", "iteration": 1, "results": [{"id": "a"}]}]
    for write_duplicates in (True, False):
        (only,) = score(records, write_duplicates=write_duplicates).values()
        assert only.duplicates == []
        assert tables_of([only]) == []


def test_what_is_decoded_is_where_a_score_has_it():
    fields = msgspec.structs.fields
    names = [field.name for field in fields(duplicate_tables.FoundDuplicates)]
    assert names == [field.name for field in fields(ConversationScore)][: len(names)]
