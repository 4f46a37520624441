"""Scores conversations from their payloads, in native code if possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from goodgain.transforms.core.judgments.result_labels import LabelledCalls, label_calls
from goodgain.transforms.core.native import native_module
from goodgain.transforms.core.option import differs_beside
from goodgain.transforms.core.pool.files import TopicPools
from goodgain.transforms.core.records.side_rows import RowPlace
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.delivery import deliver, merge_attributes
from goodgain.transforms.core.scoring.native_rules import describe_layout, describe_scoring_rules
from goodgain.transforms.core.scoring.native_tally import tally_of
from goodgain.transforms.core.scoring.payload import Frame, payload, unpack
from goodgain.transforms.core.scoring.score import (
    score_conversation,
    score_tally,
)
from goodgain.transforms.core.scoring.settings import Scoring

# The settings that native code heeds, as they are and otherwise, and those of the values that are
# computed from what it folds. With any other setting, Python folds.
_SWITCHES = ("without_failed", "per_call")
_HEEDED = (
    "rules", "good_gain_threshold", "document_label", "label_keys", "exclusions", "duplicates",
    "usage", "write_duplicates",
)  # fmt: skip
_OF_VALUES = (
    "metrics", "own", "g_max", "relevance_threshold", "bounds", "clock", "cost", "budget", "max_i",
    "outcome", "pass_", "pass_k",
)  # fmt: skip

# These take the attributes of the calls of a conversation in order.
_TopicOf = Callable[[list[dict[str, str]]], str]
_ExcludedOf = Callable[[list[dict[str, str]]], list[bytes]]


class PayloadScorer:
    """Scores one conversation at a time. Not thread-safe, since it has a cache."""

    def __init__(self, scoring: Scoring, pools: TopicPools | None = None) -> None:
        """Score by `scoring`; `pools` are used if it has a pool."""
        self._scoring = scoring
        self._pools = pools
        self._folder = _native_folder(scoring)

    def score(
        self, conversation_id: str, payloads: Sequence[bytes], rejected_records: int = 0
    ) -> ConversationScore:
        """Score a conversation from all its payloads, in any order.

        Args:
          payloads: made by `payload`.
          rejected_records: number of its rejected records that the payloads do not count.

        Raises:
          GoodGainError: a file of the pool cannot be read.
        """
        folded = self._fold(conversation_id, payloads)
        if folded is not None:
            return self._score_folded(conversation_id, folded, rejected_records)
        frame = unpack(payloads)
        if self._folder is not None and frame.labels:
            score = self._score_by_usable_labels(conversation_id, frame, rejected_records)
            if score is not None:
                return score
        return score_conversation(
            conversation_id,
            frame.calls,
            frame.rejected_records + rejected_records,
            self._scoring,
            frame.external,
            self._pools,
            frame.labels,
            frame.outcomes,
        )

    def _fold(self, conversation_id: str, payloads: Sequence[bytes]) -> Any | None:
        """What native code folds; None if Python has to."""
        if self._folder is None:
            return None
        return self._folder.fold(payloads, *self._topical(conversation_id))

    def _score_by_usable_labels(
        self, conversation_id: str, frame: Frame, rejected_records: int
    ) -> ConversationScore | None:
        """The score by native code without the labels that Python has to reject.

        None if there are none, or if native code cannot fold the rest.
        """
        labelled = label_calls(deliver(frame.calls).calls, frame.labels)
        rejected = {row.place for row in labelled.rejected}
        if not rejected:
            return None
        usable = [
            label for label in frame.labels if RowPlace(label.file, label.row) not in rejected
        ]
        packed = payload(
            frame.calls,
            frame.rejected_records,
            frame.external,
            labels=usable,
            outcomes=frame.outcomes,
        )
        folded = self._fold(conversation_id, [packed])
        if folded is None:
            return None
        return self._score_folded(conversation_id, folded, rejected_records, labelled)

    def _score_folded(
        self,
        conversation_id: str,
        folded: Any,
        rejected_records: int,
        labelled: LabelledCalls | None = None,
    ) -> ConversationScore:
        """Score what native code folded; for `labelled` see its `tally_of`."""
        tally = tally_of(conversation_id, folded, self._scoring, labelled)
        rejected_records += folded[0][6]
        return score_tally(conversation_id, tally, rejected_records, self._scoring)

    def _topical(self, conversation_id: str) -> tuple[str | _TopicOf | None, _ExcludedOf | None]:
        """What depends on the topic, for native code: see `_topic_of` and `Exclusions`."""
        exclusions, topic = self._scoring.exclusions, self._topic_of(conversation_id)
        if exclusions is None:
            return topic, None

        def find_excluded(calls: list[dict[str, str]]) -> list[bytes]:
            return list(exclusions.of_conversation(conversation_id, merge_attributes(calls)))

        return topic, find_excluded

    def _topic_of(self, conversation_id: str) -> str | _TopicOf | None:
        """The topic, or what finds it by the attributes of calls; None without judgments."""
        keys = self._scoring.label_keys
        if keys is None:
            return None
        if keys.qrels_topic is None:
            return keys.topic(conversation_id, {})
        return lambda attributes: keys.topic(conversation_id, merge_attributes(attributes))


def _native_folder(scoring: Scoring) -> Any | None:
    """Native code for this scoring; None if it is missing or cannot do all of it."""
    native = native_module()
    known = (*_SWITCHES, *_HEEDED, *_OF_VALUES)
    if native is None or scoring.with_aspects or differs_beside(scoring, known):
        return None
    rules = scoring.rules
    return native.Folder(
        describe_scoring_rules(rules),
        partial(describe_layout, rules),
        scoring.good_gain_threshold,
        {
            "best_label": scoring.document_label == "best",
            "hold_slot": scoring.hold_slot,
            "usage": bool(scoring.usage),
            "keep_duplicates": scoring.write_duplicates,
            **{name: getattr(scoring, name) for name in _SWITCHES},
        },
    )
