"""The command that explains one conversation of a run, safe to paste into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from goodgain.pipeline.settings.in_memory import IN_MEMORY, find_in_memory
from goodgain.pipeline.settings.option_fields import flag_of, metadata
from goodgain.pipeline.settings.run_config import ExplainConfig
from goodgain.transforms.core.metrics.own_names import DEFAULT_METRICS, split_names
from goodgain.transforms.core.option import LIMITS

_LONGEST = 2_000
# The files are named first, metrics only where they are missed; costs are not explained.
_UNSEEN = ("input", "metrics", "cost")
_FIELDS = ExplainConfig.model_fields
# The other options that an explanation depends on, with their defaults.
_DEFAULTS: dict[str, Any] = {
    name: field.default
    for name, field in _FIELDS.items()
    if name not in _UNSEEN and metadata(field)["group"] != LIMITS
}
_DEFAULTS = {
    name: list(default) if isinstance(default, tuple) else default
    for name, default in _DEFAULTS.items()
}


def are_explained_alike(parameters: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether two runs explain a conversation by the same options, but for traces and metrics."""
    return all(
        parameters.get(name, default) == others.get(name, default)
        for name, default in _DEFAULTS.items()
    )


def explain_command(
    conversation_id: str, parameters: Mapping[str, Any], against: Sequence[str] = ()
) -> str | None:
    """The `goodgain explain` command for a conversation of a run.

    None if it would be too long, or something that it needs was in memory.

    Args:
      against: the traces of another arm, if it shows the conversation in both.
    """
    if find_in_memory(parameters) or IN_MEMORY in against:
        return None
    words = ["goodgain", "explain", "--input", *map(quote_word, parameters.get("input", ()))]
    if against:
        words += ["--against", *map(quote_word, against)]
    for name, default in _DEFAULTS.items():
        value = parameters.get(name, default)
        if value not in (None, default):
            several = value if isinstance(value, list) else [value]
            given = [] if value is True else several
            words += [flag_of(name, _FIELDS[name]), *(quote_word(str(word)) for word in given)]
    if not against:
        words += _metrics_words(parameters)
    identity = quote_word(conversation_id)
    if conversation_id[:1] == "-":
        words += ["--", identity]  # else it would pass for an option
    else:
        words.insert(2, identity)
    command = " ".join(words)
    return command if len(command) <= _LONGEST else None


def _metrics_words(parameters: Mapping[str, Any]) -> list[str]:
    """The option for the metrics of a run, if an explanation would else lack one of them."""
    ranking, own = split_names(parameters.get("metrics", ()))
    if own or not set(ranking) <= set(DEFAULT_METRICS):
        return [flag_of("metrics", _FIELDS["metrics"]), *map(quote_word, (*ranking, *own))]
    return []


def quote_word(text: str) -> str:
    r"""Quote one word for a shell; unprintable characters are escaped as in `$'\x1b'`.

    Unescaped, they could act on the terminal, or hide part of the pasted command.
    """
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_escape, text)) + "'"


def _escape(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
