"""The documents of one pool that two arms found, as text."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.pipeline.comparison.pool_finds import FoundDocument, PoolFinds
from goodgain.pipeline.terminal.safe_text import shortened
from goodgain.transforms.core.wording import counted, pluralize

_SHOWN = 3
_LONGEST = 100


def pool_lines(finds: PoolFinds) -> Iterator[str]:
    """How many good documents each arm found, and the first ones that only one arm found."""
    good = finds.both + finds.base + finds.candidate + finds.neither
    yield (
        f"Of {good:,} good documents of the pool ({counted(finds.topics, 'topic')}), both arms "
        f"found {finds.both:,}, the base alone {finds.base:,}, the candidate alone "
        f"{finds.candidate:,}, neither {finds.neither:,}."
    )
    if finds.topics_of_one_arm:
        yield (
            f"{counted(finds.topics_of_one_arm, 'topic')} that only one arm has "
            f"{pluralize(finds.topics_of_one_arm, 'is', 'are')} not counted."
        )
    if finds.note:
        yield f"The documents cannot be listed: {finds.note}."
    for arm in ("base", "candidate"):
        alone = [one for one in finds.documents if one.found_by == arm]
        for one in alone[:_SHOWN]:
            yield f"  Only the {arm}: {shortened(_document_text(one), _LONGEST)}"


def _document_text(one: FoundDocument) -> str:
    topic = one.topic if one.topic is not None else one.conversation_id
    where = f" {one.url}" if one.url else ""
    return f"{topic} [{one.label}] {one.title or one.document}{where}"
