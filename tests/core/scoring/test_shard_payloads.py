"""Payloads of a shard of a file, without Beam: each record is in exactly one."""

import json
from collections import Counter
from random import Random

import pytest

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.judgments.judgment import LabelKeys, LabelRequest
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.packing import Packer, Packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.scoring.shard_payloads import payloads_of_shard
from tests.adversarial import trace
from tests.core.direct import shipped_rules


def open_file(path):
    return open(path, "rb")


def read_payloads(path, shard_bytes, packing):
    """Payloads and rejected records of all shards of a file, from one packer."""
    packer = Packer(packing)
    with open_file(path) as file:
        shards = plan_shards(file, str(path), path.stat().st_size, shard_bytes)
    return [found for shard in shards for found in payloads_of_shard(shard, open_file, packer)]


@pytest.mark.parametrize("shard_bytes", [700, 1 << 20])
def test_each_record_is_in_one_payload_or_a_rejected_row(tmp_path, shard_bytes):
    records = trace(Random(3), conversations=15)
    lines = [json.dumps(record) for record in records]
    lines[4:4] = ["garbage", json.dumps({"conversation_id": records[0]["conversation_id"]})]
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(lines))

    found = read_payloads(path, shard_bytes, Packing(shipped_rules()))

    rejected = [part for part in found if isinstance(part, RejectedRecord)]
    packed = [part for part in found if not isinstance(part, RejectedRecord)]
    assert [row.position for row in rejected] == ["line 5", "line 6"]
    assert sum(payload.calls for payload in packed) == len(records)
    by_conversation = {}
    for payload in packed:
        by_conversation.setdefault(payload.conversation_id, []).append(payload.payload)
        assert payload.label_request is None
    frames = {name: unpack(payloads) for name, payloads in by_conversation.items()}
    fingerprinter = Fingerprinter(shipped_rules())
    fingerprints = [fingerprinter.call_fingerprint(parse_mapping(record)) for record in records]
    digests = Counter(call.record_digest for frame in frames.values() for call in frame.calls)
    assert digests == Counter(fingerprint.record_digest for fingerprint in fingerprints)
    flagged = {name: frame.rejected_records for name, frame in frames.items()}
    assert {name: count for name, count in flagged.items() if count} == {
        records[0]["conversation_id"]: 1
    }


def test_payloads_name_the_labels_that_their_records_need(tmp_path):
    path = tmp_path / "traces.jsonl"
    records = [
        {
            "conversation_id": "c",
            "iteration": 1,
            "attributes": {"topic": "t"},
            "results": [{"ids": {"doc_id": " B "}}, {}],
        },
        {"conversation_id": "c", "iteration": 2, "results": [{"ids": {"doc_id": ["B", "A"]}}]},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    (packed,) = read_payloads(path, 1 << 20, Packing(shipped_rules(), label_keys=LabelKeys()))
    assert packed.label_request == LabelRequest("c", ["A", "B"], without_name=1)
    by_topic = Packing(shipped_rules(), label_keys=LabelKeys(qrels_topic="topic"))
    (packed,) = read_payloads(path, 1 << 20, by_topic)
    request = packed.label_request
    assert (request.documents, request.topic_attribute) == (["A", "B"], "topic")
    assert [
        (record.iteration, record.attributes, record.results) for record in request.records.values()
    ] == [
        (1, {"topic": "t"}, []),
        (2, {}, []),
    ]
