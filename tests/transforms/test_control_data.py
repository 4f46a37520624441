"""Control data go through the grouping of payloads, and come out unchanged."""

import apache_beam as beam
import msgspec
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from goodgain.transforms.control_data import ControlData
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules, read_shipped_rules
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.fingerprint import Keyed
from goodgain.transforms.read_payloads import ReadPayloads
from goodgain.transforms.score import ScorePayloads

RULES = compile_rules(read_rules(read_shipped_rules()))
SCORING = Scoring(RULES, metrics=("ndcg@10",))


@pytest.mark.slow
@pytest.mark.parametrize("in_state", [False, True])
def test_rejected_records_and_counts_are_as_without_the_shuffle(tmp_path, in_state):
    """Also those of conversations that have usable records, and those without a conversation."""
    path = tmp_path / "traces.jsonl"
    calls = [SearchCall(f"c{at % 3}", at, results=[Result(gain=3)]) for at in range(1, 7)]
    bad = [b"{", b'{"conversation_id": "c1"}', b'{"iteration": 1}']
    path.write_bytes(b"\n".join([*map(msgspec.json.encode, calls), *bad]))
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        files = pipeline | ReadPayloads([str(path)], Packing(RULES), shard_bytes=200)
        control_data = (files.rejected, files.counts)
        scored = files.payloads | ScorePayloads(SCORING, in_state, control_data=control_data)
        plain = files.payloads | "Plain" >> ScorePayloads(SCORING)
        for name, found, other in [
            ("rejected", scored.control_data[0], files.rejected),
            ("counts", scored.control_data[1], files.counts),
            ("scores", scored.scores, plain.scores),
        ]:
            sides = {
                "one": found | f"{name} 1" >> _list(),
                "other": other | f"{name} 2" >> _list(),
            }
            same = sides | f"{name} side by side" >> beam.CoGroupByKey()
            assert_that(same | f"{name} equal" >> beam.Map(_equal_and_any), equal_to([True]), name)
        assert scored.control_data[0].element_type is RejectedRecord
        assert plain.control_data == ()


def _list():
    return (
        beam.ParDo(lambda one: [(0, repr(one))])
        | beam.GroupByKey()
        | beam.MapTuple(lambda key, several: (key, sorted(several)))
    )


def _equal_and_any(grouped):
    _, sides = grouped
    (one,), (other,) = sides["one"], sides["other"]
    return bool(one) and one == other


@pytest.mark.slow
def test_the_largest_and_the_emptiest_values_come_out():
    """And ids that begin with blanks, unlike the keys of control data, stay conversations."""
    values = [b"", b"\0", bytes(100_000), *(str(at).encode() for at in range(500))]
    ids = [" c", "  d ", "e"]
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        payloads = pipeline | "Payloads" >> beam.Create(
            [(id_, id_.encode()) for id_ in ids]
        ).with_output_types(Keyed)
        collections = (
            pipeline | "Values" >> beam.Create(values),
            pipeline | "Numbers" >> beam.Create([1, 2, 2]),
            pipeline | "Nothing" >> beam.Create([]),
        )
        control = ControlData(collections)
        separate = control.separate_from(control.add_to(payloads) | beam.GroupByKey())
        assert_that(separate[0] | beam.Keys(), equal_to(ids), "ids")
        for at, expected in enumerate([values, [1, 2, 2], []], start=1):
            assert_that(separate[at], equal_to(expected), f"collection {at}")
