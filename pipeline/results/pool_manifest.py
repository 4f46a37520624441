"""The manifest of a pool: what a build writes, and what everything that opens a pool reads."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from goodgain.pipeline.results.manifest_counts import (
    ExcludedCounts,
    FileOfRun,
    JudgmentCounts,
    LabelCounts,
    RecordCounts,
)
from goodgain.transforms.core.dedup.rules import Unit
from goodgain.transforms.core.files.format_names import Format
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.pool.files import PoolFiles
from goodgain.transforms.core.warnings.check_inputs import LabelSpan
from goodgain.transforms.core.warnings.warning import DataWarning

POOL: Final = "pool"


class PoolExclusions(Struct, frozen=True):
    """What a pool was built without; equal for the same documents of the same topics.

    Attributes:
      digest: of the pairs of topic and document.
      pairs: their number.
      qrels_id, qrels_topic: how they are matched to results.
    """

    digest: str
    pairs: int
    qrels_id: str
    qrels_topic: str | None = None

    @classmethod
    def of(cls, exclusions: Exclusions | None) -> PoolExclusions | None:
        """What is excluded; None if nothing is."""
        if exclusions is None:
            return None
        keys = exclusions.keys
        return cls(exclusions.digest, exclusions.number, keys.qrels_id, keys.qrels_topic)


class PooledRun(Struct, frozen=True):
    """A run in a pool.

    Attributes:
      documents: number of documents that it found.
      only_here: number of these that no other run found.
    """

    inputs: tuple[FileOfRun, ...]
    conversations: int
    documents: int
    only_here: int


class PoolContent(Struct, frozen=True):
    """How much a pool holds.

    Attributes:
      places: number of results of the runs that are its documents.
      judged_for_aspects: number of documents of which it says what aspects they cover.
    """

    topics: int
    documents: int
    places: int
    evidence: int
    judged_for_aspects: int = 0


class BuiltRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What reading and labelling one run found."""

    records: RecordCounts
    qrels: JudgmentCounts | None = None
    labels: LabelCounts | None = None
    exclude: ExcludedCounts | None = None
    warnings: tuple[DataWarning, ...]


class LastBuild(Struct, frozen=True):
    """What the last build or update read, and found.

    Attributes:
      by_run: of the runs that it read, by name.
    """

    read: int
    rejected: int
    unknown_losses: int
    too_many_rejected: bool
    conversations: int
    conversations_without_topic: int
    results: int
    weak_documents: int
    candidates_cut: int
    by_run: dict[str, BuiltRun]


class PoolManifest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The manifest of a pool.

    Attributes:
      digest: of its content; pools with equal digests give equal scores.
      topic: the attribute that holds the topic; None if each conversation is a topic.
      documents: the folder of its documents.
      preferred: the annotator whose labels override those of others, if any.
      label_spans: by id name, how far votes on its documents lie apart.
      unit: what its documents are.
      started, finished: UTC.
    """

    kind: Literal["pool"]
    digest: str
    topic: str | None
    documents: str
    format: Format
    shards: int
    preferred: str | None
    runs: dict[str, PooledRun]
    content: PoolContent
    last_build: LastBuild
    label_spans: dict[str, LabelSpan]
    rules_digest: str
    unit: Unit
    exclude: PoolExclusions | None = None
    versions: dict[str, str]
    started: datetime
    finished: datetime

    def files(self, folder: str) -> PoolFiles:
        """The files that hold the documents of the pool in a folder."""
        documents = f"{folder.rstrip('/')}/{self.documents}"
        return PoolFiles(documents, f".{self.format}", self.shards, self.preferred)
