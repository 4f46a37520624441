"""The ten-line explanation of what makes two results the same document (SPEC 4)."""

from __future__ import annotations

from goodgain.transforms.core.dedup.keys import TEXT_KEYS
from goodgain.transforms.core.dedup.rules import DEFAULT_TYPE, SNIPPET, RuleTable


def describe_identity(rules: RuleTable) -> list[str]:
    """The explanation for these rules, as lines of text."""
    names = {number: name for name, number in rules.ids.items()}
    definitive = "; ".join(
        f"{entry.name}: {', '.join(names[id_] for id_ in entry.ids if id_ in entry.definitive)}"
        for entry in rules.types
        if entry.name != DEFAULT_TYPE and entry.definitive
    )
    default = ", ".join(names[id_] for id_ in rules.default.ids if id_ in rules.default.definitive)
    containers = ", ".join(sorted(names[id_] for id_ in rules.containers))
    least = TEXT_KEYS[SNIPPET].least
    return [
        "Results that share an id, a URL, a title or the start of a text are compared;",
        f"a snippet or content below {least} characters alone is not enough. In this order:",
        "1 Ids of the type: one in common is the same document, none in common another.",
        f"  {definitive or 'No type has ids'}.",
        "2 URL: another host or path is another document, an equal URL the same one.",
        "3 Fields: as the rules of the type say (what must not differ, what is enough).",
        "4 An equal `id`, if no attribute conflicts (both have it, unequal): the same.",
        f"  Without a known type: {default or 'no id'} as in 1; any other id as in 4, but for "
        f"those of containers ({containers or 'none'}).",
        "5 All that is known is equal, two attributes or more: the same. Else not.",
        "What one of the two lacks never decides. `goodgain explain` shows each decision.",
    ]
