"""Payloads of bundles: scores do not depend on how calls are bundled."""

from random import Random

import pytest
from apache_beam.utils.timestamp import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st

import goodgain.transforms.core.scoring.packing
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.fingerprint import FingerprintBundle
from tests.adversarial import conversation_records
from tests.core.direct import scoring

pytestmark = pytest.mark.usefixtures("reading")

SCORING = scoring()
EVENT_TIME = Timestamp(5)


def payloads(bundle):
    """The payload of a bundle of calls for each conversation."""
    fingerprint = FingerprintBundle(Packing(SCORING.rules))
    fingerprint.setup()
    outputs = [output for call in bundle for output in fingerprint.process(call, EVENT_TIME)]
    outputs += fingerprint.finish_bundle()
    assert all(output.timestamp == EVENT_TIME for output in outputs)
    return dict(output.value for output in outputs)


def score(bundles):
    """The score of the only conversation in these bundles."""
    packed = [payloads(bundle) for bundle in bundles]
    (conversation_id,) = {name for payloads in packed for name in payloads}
    frame = unpack([payloads[conversation_id] for payloads in packed])
    return score_conversation(conversation_id, frame.calls, 0, SCORING)


def calls_of(seed):
    return [parse_mapping(record) for record in conversation_records(Random(seed))]


@given(seed=st.integers(0, 10_000), parts=st.integers(1, 4), order=st.randoms())
@settings(max_examples=30)
def test_scores_do_not_depend_on_bundles(seed, parts, order):
    calls = calls_of(seed)
    expected = score([calls])
    order.shuffle(calls)
    bundles = [bundle for part in range(parts) if (bundle := calls[part::parts])]
    assert score(bundles) == expected


def test_a_full_buffer_emits_the_least_recently_seen_conversations(monkeypatch):
    monkeypatch.setattr(goodgain.transforms.core.scoring.packing, "MOST_BUFFERED_RESULTS", 6)
    fingerprint = FingerprintBundle(Packing(SCORING.rules))
    fingerprint.setup()
    left = []
    for at, name in enumerate("abacad"):  # each call counts like one result
        call = SearchCall(conversation_id=name, iteration=at + 1)
        left.append([output.value[0] for output in fingerprint.process(call, EVENT_TIME)])
    assert left == [[], [], [], [], [], ["b", "c", "a"]]
    (last,) = fingerprint.finish_bundle()
    assert last.value[0] == "d"


def test_rejected_records_flag_their_named_conversation():
    fingerprint = FingerprintBundle(Packing(SCORING.rules))
    fingerprint.setup()
    records = [
        SearchCall(conversation_id="a", iteration=1),
        RejectedRecord("file", "line 2", "wrong", conversation_id="a"),
        RejectedRecord("file", "line 3", "wrong", conversation_id="b", records=2),
        RejectedRecord("file", "line 4", "wrong"),
    ]
    outputs = [output for record in records for output in fingerprint.process(record, EVENT_TIME)]
    outputs += fingerprint.finish_bundle()
    frames = {name: unpack([packed]) for name, packed in (output.value for output in outputs)}
    assert {name: frame.rejected_records for name, frame in frames.items()} == {"a": 1, "b": 2}
    assert [len(frame.calls) for frame in frames.values()] == [1, 0]
