"""`goodgain validate` counts redelivered records as a run does."""

import json

import pytest
from msgspec.structs import asdict

import goodgain as gg
from goodgain.pipeline.__main__ import main


@pytest.mark.parametrize(
    ("deliveries", "conflicting"),
    [
        ([("a", 0), ("a", 0), ("b", 1)], 2),
        ([("b", 1), ("a", 0), ("a", 0)], 2),
        ([("a", 0), ("b", 1), ("b", 1)], 1),
        ([("a", None), ("b", 1), ("c", 0), ("b", 1)], 2),
        ([("a", 0), ("b", 0)], 1),
        ([("a", 0), ("a", 0)], 0),
    ],
)
def test_as_many_conflict_with_the_one_that_counts(deliveries, conflicting, tmp_path, capsys):
    records = [
        {"conversation_id": "c", "iteration": 1, "record_id": "r", "query": query, "timestamp": at}
        | {"results": [{"url": "https://a.example", "gain": 3}]}
        for query, at in deliveries
    ]
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    main(["validate", "--json", str(path)])
    with pytest.warns(gg.GoodGainWarning):  # times before 1990
        run = gg.evaluate(str(path))
    for counts in (json.loads(capsys.readouterr().out)["records"], asdict(run.manifest.records)):
        assert counts["redelivered"] == len(deliveries) - 1
        assert counts["conflicting_redeliveries"] == conflicting
