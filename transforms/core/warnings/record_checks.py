"""The data warnings of SPEC 10 that are about records which do not count as they were written."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.warnings import codes
from goodgain.transforms.core.warnings.check_inputs import CheckInputs
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import counted, pluralize

_CONVERSATIONS = "conversations.total"
_MOST_CONFLICTING_SHARE = 0.01  # corrections that are sent later are rarely more
_ONE_COUNTS = (
    "of records of a conversation with the same `record_id` (without one: the same turn, iteration "
    "and `call`) only one counts"
)
# Of each: code, count, what the message says of one conversation and of several, remedy.
_TOPIC_CHECKS = (
    (
        codes.CONVERSATIONS_WITHOUT_TOPIC,
        data_counts.WITHOUT_TOPIC,
        "has no attribute {attribute}, so no judgment labels its results: gains and recall can be "
        "too low.",
        "have no attribute {attribute}, so no judgment labels their results: gains and recall can "
        "be too low.",
        "Write the attribute that --qrels-topic names into a record of every conversation.",
    ),
    (
        codes.SEVERAL_TOPICS,
        data_counts.SEVERAL_TOPICS,
        "has several values of the attribute {attribute}: the last one is its topic, whose "
        "judgments label all of its results.",
        "have several values of the attribute {attribute}: the last one is their topic, whose "
        "judgments label all of their results.",
        "If the records answer different questions, give each question its own conversation_id.",
    ),
)


def conflicting_redeliveries(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if many records were dropped for one of the same identity but with other content."""
    conflicting, read = inputs.count(data_counts.CONFLICTING), inputs.read
    if conflicting <= _MOST_CONFLICTING_SHARE * read:
        return
    share = conflicting / read
    yield DataWarning(
        codes.CONFLICTING_REDELIVERIES,
        conflicting,
        share,
        f"{conflicting:,} of {read:,} records ({share:.1%}) "
        + pluralize(
            conflicting,
            f"is not scored: {_ONE_COUNTS}, and this one differs from it.",
            f"are not scored: {_ONE_COUNTS}, and these differ from it.",
        ),
        "If they are different searches, check `turn` and `iteration`, and give each search of an "
        "iteration its own `call`, or leave `call` out; a `record_id` must be unique in its "
        "conversation. If they correct records that were sent before, ignore this.",
    )


def topics(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if conversations have no topic of external judgments, or several."""
    total = inputs.count(_CONVERSATIONS)
    for code, name, one, more, remedy in _TOPIC_CHECKS:
        if number := inputs.count(name):
            share = number / total
            says = pluralize(number, one, more).format(attribute=inputs.topic_attribute)
            message = f"{number:,} of {counted(total, 'conversation')} ({share:.1%}) {says}"
            yield DataWarning(code, number, share, message, remedy)
