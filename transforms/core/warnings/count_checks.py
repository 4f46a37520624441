"""The data warnings of SPEC 10 that need no more than a count that is not 0, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.warnings import codes
from goodgain.transforms.core.warnings.check_inputs import CheckInputs
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import format_count, format_percent


class CountCheck(Struct, frozen=True):
    """Warns if a count is not 0.

    Attributes:
      total: name of the count that it is a part of.
      one, more: what the message says after a count of 1, and after any other count; with names of
        `check_counts` in braces.
    """

    code: str
    count: str
    total: str
    one: str
    more: str
    remedy: str


TOPIC_CHECKS = (
    CountCheck(
        codes.CONVERSATIONS_WITHOUT_TOPIC,
        data_counts.WITHOUT_TOPIC,
        data_counts.CONVERSATIONS,
        "of {conversations} ({share}) has no attribute {attribute}, so no judgment labels its "
        "results: gains and recall can be too low.",
        "of {conversations} ({share}) have no attribute {attribute}, so no judgment labels "
        "their results: gains and recall can be too low.",
        "Write the attribute that "
        + Remedy("qrels_topic")
        + " names into a record of every conversation.",
    ),
    CountCheck(
        codes.SEVERAL_TOPICS,
        data_counts.SEVERAL_TOPICS,
        data_counts.CONVERSATIONS,
        "of {conversations} ({share}) has several values of the attribute {attribute}: the "
        "last one is its topic, whose judgments label all of its results.",
        "of {conversations} ({share}) have several values of the attribute {attribute}: the "
        "last one is their topic, whose judgments label all of their results.",
        "If the records answer different questions, give each question its own conversation_id.",
    ),
)
# To warn about another count, add an entry here and its name to `data_counts.COUNTED`.
COUNT_CHECKS = (
    CountCheck(
        codes.SIMILAR_NAMES,
        data_counts.SIMILAR_NAMES,
        data_counts.RESULTS,
        "name of results differs from a judged name only in its Unicode form (NFC) or its "
        "percent-encoding, so that the judgment does not label it.",
        "names of results differ from a judged name only in their Unicode form (NFC) or their "
        "percent-encoding, so that the judgments do not label them.",
        "Write the names alike in traces and judgments.",
    ),
    CountCheck(
        codes.JUDGMENTS_MET_AGAIN,
        data_counts.MET_AGAIN,
        data_counts.RESULTS,
        "document stays unjudged because the judgments of its names already label earlier "
        "documents of its turn: several documents share a name.",
        "documents stay unjudged because the judgments of their names already label earlier "
        "documents of their turn: several documents share a name.",
        "Check that " + Remedy("qrels_id") + " names an id that no two documents share.",
    ),
    CountCheck(
        codes.OUTSIDE_POOL,
        data_counts.OUTSIDE_POOL,
        data_counts.GOOD,
        "of {total:,} good documents ({share}) has no label in the pool: it counts as gain, "
        "but not for recall of the pool.",
        "of {total:,} good documents ({share}) have no label in the pool: they count as gain, "
        "but not for recall of the pool.",
        "Add this run with `goodgain pool build --update`, and label the pool.",
    ),
    CountCheck(
        codes.WEAK_DOCUMENTS,
        data_counts.WEAK_DOCUMENTS,
        data_counts.UNIQUE,
        "of {total:,} documents ({share}) has too few attributes to be recognized again: a "
        "repeat of the run counts it as a new one.",
        "of {total:,} documents ({share}) have too few attributes to be recognized again: a "
        "repeat of the run counts them as new ones.",
        "Give results an id, a URL or a text.",
    ),
)
LABEL_CHECKS = (
    CountCheck(
        codes.REJECTED_LABELS,
        "labels.rejected",
        "labels.read",
        "of {total:,} labels of " + Remedy("labels") + " ({share}) was not used.",
        "of {total:,} labels of " + Remedy("labels") + " ({share}) were not used.",
        "The dataset rejected_labels has the place and the reason of each.",
    ),
    CountCheck(
        codes.REJECTED_OUTCOMES,
        "outcomes.rejected",
        "outcomes.read",
        "of {total:,} rows of " + Remedy("outcomes") + " ({share}) was not used.",
        "of {total:,} rows of " + Remedy("outcomes") + " ({share}) were not used.",
        "The dataset rejected_outcomes has the place and the reason of each.",
    ),
)


def check_counts(checks: Sequence[CountCheck], inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn of each count that is not 0, unless its total is."""
    for check in checks:
        part = inputs.part(check.count, check.total)
        if part.exceeds(0):
            message = format_count(part.count, check.one, check.more).format(
                total=part.total,
                share=format_percent(part.share),
                conversations=format_count(part.total, "conversation"),
                attribute=inputs.topic_attribute,
            )
            yield DataWarning(check.code, part.count, part.share, message, check.remedy)
