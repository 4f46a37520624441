"""Transforms of rows with a schema, run through Beam YAML as a user would."""

import json
from importlib import resources

import apache_beam as beam
import apache_beam.testing.util
import pytest
import yaml
from apache_beam.yaml import main as beam_yaml

import goodgain as gg
from goodgain.transforms.beam_rows import GlobalMeanRows, ScoreConversationRows
from goodgain.transforms.core.errors import UsageError

pytestmark = pytest.mark.slow

METRICS = ["ndcg@10", "recall@10"]
RECORDS = [
    {
        "conversation_id": "c-1",
        "iteration": 1,
        "attributes": {"market": "de"},
        "results": [
            {"entity_type": "File", "ids": {"file_id": ["f-1", "f-2"]}, "gain": 3, "score": 0.5},
            {"url": "https://a.example/b", "fields": {"author": "Ann"}, "gain": 2},
        ],
    },
    {
        "conversation_id": "c-1",
        "iteration": 2,
        "timestamp": "2025-03-03T10:00:00Z",
        "results": [{"url": "https://a.example/b", "gain": 2}],
    },
    {"conversation_id": "c-2", "iteration": 1, "results": [{"id": "x", "gain": 1}]},
    {"conversation_id": "c-2", "iteration": 0, "results": []},
]


def lines(folder, name):
    return sorted(
        line for path in folder.glob(f"{name}*") for line in path.read_text().splitlines()
    )


def to_text(name, source, field, folder):
    """YAML steps that write one value of each row to text files."""
    return [
        {
            "type": "MapToFields",
            "name": f"Line of {name}",
            "input": source,
            "config": {"language": "python", "fields": {"line": {"expression": field}}},
        },
        {
            "type": "WriteToText",
            "name": f"Write {name}",
            "input": f"Line of {name}",
            "config": {"path": str(folder / name)},
        },
    ]


def test_a_yaml_pipeline_gives_the_results_of_evaluate(tmp_path):
    traces = tmp_path / "traces.jsonl"
    traces.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    provider = tmp_path / "goodgain.provider.yaml"
    shipped = resources.files("goodgain.configs").joinpath("beam/goodgain.provider.yaml")
    provider.write_text(shipped.read_text())
    pipeline = tmp_path / "pipeline.yaml"
    steps = [
        {
            "type": "ReadTraces",
            "name": "Read",
            "config": {"input": str(traces), "error_handling": {"output": "rejected"}},
        },
        {
            "type": "ScoreConversations",
            "name": "Score",
            "input": {"input": "Read", "rejected": "Read.rejected"},
            "config": {"metrics": METRICS, "error_handling": {"output": "bad"}},
        },
        {
            "type": "GlobalMeans",
            "name": "Means",
            "input": "Score.good",
            "config": {
                "metrics": METRICS,
                "slices": ["market"],
                "error_handling": {"output": "bad"},
            },
        },
        *to_text(
            "means",
            "Means.good",
            "metric + ' ' + str(i) + ' ' + str(n) + ' ' + str(mean)",
            tmp_path,
        ),
        *to_text("rejected", "Read.rejected", "conversation_id + ' ' + field", tmp_path),
        *to_text("bad", "Score.bad", "reason", tmp_path),
        *to_text("none", "Means.bad", "reason", tmp_path),
        *to_text(
            "gain", "Score.good", "conversation_id + ' ' + str(CG) + ' ' + str(DupR)", tmp_path
        ),
    ]
    pipeline.write_text(
        yaml.safe_dump(
            {"pipeline": {"transforms": steps}, "providers": [{"include": str(provider)}]}
        )
    )
    beam_yaml.run([f"--yaml_pipeline_file={pipeline}", "--runner=FnApiRunner"])
    expected = gg.evaluate(str(traces), metrics=METRICS, slices=["market"])
    assert lines(tmp_path, "means") == sorted(
        f"{row['metric']} {row['i']} {row['n']} {row['mean']}" for row in expected.means
    )
    assert lines(tmp_path, "rejected") == ["c-2 iteration"]
    assert lines(tmp_path, "bad") == lines(tmp_path, "none") == []
    assert lines(tmp_path, "gain") == ["c-1 5 1", "c-2 0 0"]


def test_beam_rows_are_scored():
    row = beam.Row(conversation_id="c", iteration=1, results=[beam.Row(id="a", gain=4)])
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        scores = pipeline | beam.Create([row]) | ScoreConversationRows(METRICS)
        seen = scores | beam.Map(lambda one: (one.CG, one.ndcg_at_10, one.iterations[0].G_i))
        beam.testing.util.assert_that(seen, beam.testing.util.equal_to([(4, 1.0, 4)]))


def test_an_invalid_row_fails_a_pipeline_without_error_handling():
    row = beam.Row(conversation_id="c", iteration=0)
    with (
        pytest.raises(Exception, match="Give error_handling with an output"),
        beam.Pipeline(runner="FnApiRunner") as pipeline,
    ):
        _ = pipeline | beam.Create([row]) | ScoreConversationRows(METRICS)


def test_means_of_rows_with_other_metrics_go_to_the_errors():
    row = beam.Row(conversation_id="c", iteration=1, results=[beam.Row(id="a", gain=4)])
    other = beam.Row(conversation_id="d", score=b"?")
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        scores = pipeline | beam.Create([row]) | ScoreConversationRows(METRICS)
        others = pipeline | "Other" >> beam.Create([other])
        for rows, metrics, good, reasons in (
            (scores, METRICS, [4], []),
            (scores, ["mrr"], [None], ["GlobalMeans and "]),
            (others, METRICS, [None], ["score is missing"]),
        ):
            label = f"{metrics} {reasons}"
            means = rows | label >> GlobalMeanRows(metrics, error_handling={"output": "bad"})
            overall = (
                means["good"]
                | f"At N {label}" >> beam.Filter(lambda one: one.metric == "CG" and one.i is None)
                | f"Mean {label}" >> beam.Map(lambda one: one.mean)
            )
            bad = means["bad"] | f"Bad {label}" >> beam.Map(lambda one: one.reason[:16])
            for found, expected in ((overall, good), (bad, reasons)):
                apache_beam.testing.util.assert_that(
                    found, apache_beam.testing.util.equal_to(expected), f"{label} {expected}"
                )


@pytest.mark.parametrize(("metrics", "max_i"), [(["mrr"], 10), (METRICS, 11)])
def test_rows_of_another_plan_fail_a_pipeline_without_error_handling(metrics, max_i):
    row = beam.Row(conversation_id="c", iteration=1)
    means = GlobalMeanRows(metrics, max_i=max_i)
    message = "different ranking metrics, or a different max_i; give both the same. Give error"
    with (
        pytest.raises(Exception, match=message),
        beam.Pipeline(runner="FnApiRunner") as pipeline,
    ):
        _ = pipeline | beam.Create([row]) | ScoreConversationRows(METRICS) | means


PASSAGES = [
    {"id": "d", "ids": {"chunk_id": str(number)}, "content": f"{number} " * 40, "gain": gain}
    for number, gain in enumerate([0, 3, 1, 0])
]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (0, 0, 1)),
        ({"document_label": "best"}, (3, 1, 1)),
        ({"unit": "passage"}, (3, 1, 4)),
    ],
)
def test_passages_and_their_documents(options, expected):
    """Four passages of one page: the first one's label, the best one's, and each for itself."""
    page = {"url": "https://a.example/page", "entity_type": "File"}
    results = [beam.Row(**passage, **page) for passage in PASSAGES]
    row = beam.Row(conversation_id="c", iteration=1, results=results)
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        scored = pipeline | beam.Create([row]) | ScoreConversationRows(METRICS, **options)
        found = scored | beam.Map(lambda one: (one.CG, one.GR, one.UR))
        beam.testing.util.assert_that(found, beam.testing.util.equal_to([expected]))


def test_invalid_options_are_refused():
    with pytest.raises(UsageError, match="unit cannot be 'passages': give document or passage"):
        ScoreConversationRows(METRICS, unit="passages")
    with pytest.raises(UsageError, match="document_label cannot be 'max': give first or best"):
        ScoreConversationRows(METRICS, document_label="max")
    with pytest.raises(UsageError, match="Unknown ranking metrics"):
        ScoreConversationRows(["ndgc@10"])
    with pytest.raises(UsageError, match="good_gain_threshold is 5"):
        ScoreConversationRows(METRICS, good_gain_threshold=5)
    with pytest.raises(UsageError, match="Unknown ranking metrics"):
        GlobalMeanRows(["ndgc@10"])
