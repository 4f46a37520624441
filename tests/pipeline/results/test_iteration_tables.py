"""Tables of iterations have the rows of the scores that they are made of."""

from random import Random

import msgspec
import pyarrow as pa

from goodgain.pipeline.results import datasets, parquet_rows, rows
from goodgain.pipeline.results.iteration_tables import FoundIterations, iteration_tables
from goodgain.pipeline.results.parquet_rows import arrow_table
from goodgain.transforms.core.scoring.settings import Scoring
from tests.adversarial import trace
from tests.core.direct import score, shipped_rules

encode = msgspec.msgpack.Encoder(order="sorted").encode
decode = msgspec.msgpack.Decoder(FoundIterations).decode


def test_rows_are_those_of_the_scores(monkeypatch):
    monkeypatch.setattr(parquet_rows, "ROWS_AT_ONCE", 4)
    monkeypatch.setattr(parquet_rows, "_ROWS_CONVERTED_AT_ONCE", 2)
    scores = list(score(trace(Random(1), conversations=40), shipped_rules()).values())
    dataset = datasets.iterations(Scoring.default().plan)
    expected = [row for score in scores for row in rows.iteration_rows(score)]
    assert len({row["conversation_id"] for row in expected}) < len(scores)  # some did not search
    assert {row["i"] for row in expected} > {1, 2}
    found = list(iteration_tables(dataset, (decode(encode(score)) for score in scores)))
    assert {table.num_rows for table in found[:-1]} == {4}
    assert pa.concat_tables(found).equals(arrow_table(dataset, expected))
