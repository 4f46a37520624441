"""Score one conversation with external judgments, with the core alone."""

from goodgain.transforms.core.judgments.external_labels import (
    GRADES,
    ExternalLabels,
    document_digests,
)
from goodgain.transforms.core.judgments.judgment import LabelKeys, document_digest
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.score import score_conversation
from tests.core.direct import scoring, shipped_fingerprinter


def score_judged(records, qrels, keys, **options):
    """The score of JSON records of one conversation; `qrels` has labels by (topic, name)."""
    calls = [
        parse_mapping({"conversation_id": "c", "iteration": 1, **record}) for record in records
    ]
    fingerprints = [shipped_fingerprinter().call_fingerprint(call) for call in calls]
    documents = {
        fingerprint.record_digest: document_digests(call, keys)
        for fingerprint, call in zip(fingerprints, calls, strict=True)
    }
    labels, pools = {}, {}
    for (topic, name), gain in qrels.items():
        if gain >= 0:
            labels.setdefault(topic, {})[document_digest(name)] = gain
            pools.setdefault(topic, [0] * GRADES)[gain] += 1
    settings = scoring(label_keys=keys, **options)
    external = ExternalLabels(documents, labels, pools)
    return score_conversation("c", fingerprints, 0, settings, external)


def values(score, names):
    """Ranking metrics by name."""
    return {name: score.conversation[name] for name in names}


NAMED = LabelKeys("doc_id")
