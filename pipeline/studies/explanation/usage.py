"""Explains which documents of a turn the agent opened and cited (SPEC 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goodgain.pipeline.studies.explanation import model
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.records.search_call import USAGES, OneOrMany, SearchCall
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.usage import TurnUsage, UsedDocument, use_turn


class Usages:
    """The records of documents that were opened or cited in a turn."""

    def __init__(
        self,
        turn: FoldedTurn,
        fingerprints: Sequence[CallFingerprint],
        records: Sequence[SearchCall],
        details: TurnDetails,
        scoring: Scoring,
    ) -> None:
        """Match them with what search found; `fingerprints` are those of the records, in order."""
        threshold = scoring.good_gain_threshold
        self._records, self._details, self._threshold = records, details, threshold
        self._used: TurnUsage = use_turn(turn, fingerprints, scoring.rules, threshold)
        self._actions = self._by_document()

    def actions(self, index: int) -> tuple[str, ...]:
        """What the agent did with the document first found at this index of the turn."""
        return self._actions.get(UsedDocument("found", index), ())

    def explain(self) -> list[model.ExplainedUsage]:
        """The records, with the document of each of their results."""
        return [
            model.ExplainedUsage(
                record.action,
                record.iteration,
                [
                    self._result(result.title, result.url, id_text(result.id, result.ids), document)
                    for result, document in zip(record.results, documents, strict=True)
                ],
            )
            for record, documents in zip(self._records, self._used.documents, strict=True)
        ]

    def _result(
        self, title: str | None, url: str | None, identity: str | None, document: UsedDocument
    ) -> model.UsedResult:
        label = self._used.labels[document]
        return model.UsedResult(
            title,
            url,
            identity,
            label,
            label is not None and label >= self._threshold,
            self._details.place(document.index) if document.source == "found" else None,
        )

    def _by_document(self) -> Mapping[UsedDocument, tuple[str, ...]]:
        actions: dict[UsedDocument, tuple[str, ...]] = {}
        for action in USAGES:
            used = (
                document
                for record, documents in zip(self._records, self._used.documents, strict=True)
                if record.action == action
                for document in documents
            )
            for document in dict.fromkeys(used):
                actions[document] = (*actions.get(document, ()), action)
        return actions


def id_text(generic: str | None, ids: Mapping[str, OneOrMany]) -> str | None:
    """The generic id, else the first domain-specific one, as `name=value`."""
    if generic is not None or not ids:
        return generic
    name, value = min(ids.items())
    return f"{name}={value if isinstance(value, str) else value[0]}"
