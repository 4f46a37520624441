"""A conversation, folded as the pipeline does, and the record behind each of its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.inputs.local_files import open_local
from goodgain.pipeline.run.plan.joined_judgments import join
from goodgain.pipeline.run.plan.judgments import Judged
from goodgain.pipeline.studies.explanation.records import ConversationRecords
from goodgain.pipeline.studies.explanation.usage import Usages
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, Fingerprinter
from goodgain.transforms.core.judgments.external_labels import ExternalLabels, document_digests
from goodgain.transforms.core.judgments.judgment import label_request
from goodgain.transforms.core.judgments.result_labels import ResultLabel, keys_of
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.files import TopicPools
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.excluded_results import KeptConversation
from goodgain.transforms.core.scoring.folded_conversation import (
    FoldedConversation,
    fold_conversation,
)
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.topic_request import topic_request

JudgmentsOf = Callable[[str], Judged]
_Records = Mapping[bytes, SearchCall]  # by digest


class ObservedTurn(Struct, frozen=True):
    """The records behind a folded turn.

    Attributes:
      searched: those of its search calls, without excluded results.
      excluded: how many results each of them lacks therefore.
      usages: what was opened and cited; None if that is not counted.
    """

    details: TurnDetails
    searched: list[SearchCall]
    excluded: list[int]
    usages: Usages | None

    @property
    def results(self) -> list[Result]:
        """The results of all calls."""
        return [result for call in self.searched for result in call.results]


def fold_observed(
    gathered: ConversationRecords,
    scoring: Scoring,
    budget: MemoryBudget,
    judgments_of: JudgmentsOf | None,
    result_labels: Iterable[ResultLabel],
) -> tuple[_Records, FoldedConversation]:
    """Fold a conversation as the pipeline does; its records by digest come first."""
    fingerprinter = Fingerprinter(scoring.rules)
    pool = scoring.pool
    fingerprints = [
        fingerprinter.call_fingerprint(call, pool is not None) for call in gathered.calls
    ]
    record_ids = [call.record_id for call in gathered.calls if call.record_id is not None]
    # A label that matches several conversations is not used, as in a run.
    keys = set(keys_of(gathered.conversation_id, record_ids)) - gathered.elsewhere
    folded = fold_conversation(
        gathered.conversation_id,
        fingerprints,
        scoring,
        _external(gathered, fingerprints, scoring, judgments_of),
        None if pool is None else TopicPools(pool.files, scoring.rules, open_local, budget),
        [label for label in result_labels if label.key in keys],
    )
    # Records with equal digests are equal.
    records = {
        fingerprint.record_digest: call
        for fingerprint, call in zip(fingerprints, gathered.calls, strict=True)
    }
    return records, folded


def observe(folded: FoldedConversation, records: _Records, scoring: Scoring) -> ObservedTurn:
    """Find the records of a folded turn."""

    def find(calls: Iterable[CallFingerprint]) -> list[SearchCall]:
        return [_drop_excluded(records[call.record_digest], call, folded.kept) for call in calls]

    turn = folded.turn
    details, searched = TurnDetails(turn, scoring.rules), find(turn.calls)
    excluded = [
        len(records[call.record_digest].results) - len(kept.results)
        for call, kept in zip(turn.calls, searched, strict=True)
    ]
    usages = None
    if scoring.usage:
        used = folded.usages()
        usages = Usages(turn, used, find(used), details, scoring)
    return ObservedTurn(details, searched, excluded, usages)


def _drop_excluded(
    record: SearchCall, fingerprint: CallFingerprint, kept: KeptConversation
) -> SearchCall:
    """A record without excluded results."""
    indexes = kept.indexes.get(fingerprint.record_digest)
    if indexes is None:
        return record
    return replace(record, results=[record.results[at] for at in indexes])


def _external(
    gathered: ConversationRecords,
    fingerprints: list[CallFingerprint],
    scoring: Scoring,
    judgments_of: JudgmentsOf | None,
) -> ExternalLabels | None:
    keys = scoring.name_keys
    if keys is None:
        return None
    documents = {
        fingerprint.record_digest: document_digests(call, keys)
        for fingerprint, call in zip(fingerprints, gathered.calls, strict=True)
    }
    if scoring.label_keys is None or judgments_of is None:
        return ExternalLabels(documents)
    request = label_request(
        gathered.conversation_id,
        gathered.calls,
        [fingerprint.record_digest for fingerprint in fingerprints],
        keys,
    )
    topic = topic_request([request]).topic
    by_conversation, _ = join([request], judgments_of(topic), scoring.exclusions)
    return replace(by_conversation[gathered.conversation_id], documents=documents)
