"""Labels on another scale than 0 to 4, and what they are on this one (SPEC 8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.remedy import Remedy

_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?:[eE][+-]?[0-9]{1,2})?"
)
_NO_WORD = re.compile(r"[\s,;=]")
_GAIN = re.compile(rf"[0-{GREATEST_GAIN}]")
_RANGE = ".."
_LONGEST_WORD = 40
# Ends the text that takes the place of a label without a gain.
UNNAMED = " (not in " + Remedy("label_map") + ")"
_NEGATIVE_WORDS = ("false", "no", "none", "bad", "irrelevant")


class LabelMap(Struct, frozen=True):
    """Which gain each label of another scale has. A 0 or false that it does not name stays 0.

    Attributes:
      words: gains by casefolded word; true and false are words.
      ranges: least and greatest number, both included, and the gain; the first that holds counts.

    Example:
      >>> from goodgain.transforms.core.records.label_map import parse_label_map
      >>> labels = parse_label_map(["2=1", "4=2", "0.5..1=3", "relevant=4"])
      >>> [labels.gain(label) for label in (2, "4", 0.7, "Relevant", 0, 5)]
      [1, 2, 3, 4, 0, None]
    """

    words: dict[str, int]
    ranges: tuple[tuple[float, float, int], ...]

    def gain(self, label: Any) -> int | None:
        """The gain of a label; None if it is not named."""
        value = _value_of(label)
        if isinstance(value, str):
            return self.words.get(value, 0 if value == "false" else None)
        if value is None:
            return None
        for least, greatest, gain in self.ranges:
            if least <= value <= greatest:
                return gain
        return 0 if value == 0 else None

    def gain_or_refusal(self, label: Any) -> Any:
        """The gain of a label in a trace; what is no label as it is; a text if it is not named."""
        if label is None or label != label or (isinstance(label, str) and not label.strip()):
            return label
        gain = self.gain(label)
        return str(label) + str(UNNAMED) if gain is None else gain


def parse_label_map(entries: Sequence[str]) -> LabelMap | None:
    """Parse what `--label-map` says; None if it says nothing.

    Args:
      entries: like `4=2`, `0.5..1=2` and `relevant=3`.

    Raises:
      UsageError: an entry is none of these, or a label is given twice; the message lists all.

    Example: see `LabelMap`.
    """
    words: dict[str, int] = {}
    numbers: list[tuple[float, float, int]] = []
    ranges: list[tuple[float, float, int]] = []
    mistakes = []
    for entry in entries:
        label, _, gain = (part.strip() for part in entry.rpartition("="))
        least, dots, greatest = label.partition(_RANGE)
        if not label or not _GAIN.fullmatch(gain):
            mistakes.append(f"{entry!r} is not LABEL=GAIN with a gain from 0 to {GREATEST_GAIN}")
        elif dots and _NUMBER.fullmatch(least.strip()) and _NUMBER.fullmatch(greatest.strip()):
            if float(least) > float(greatest):
                mistakes.append(f"{label} ends before it begins")
            ranges.append((float(least), float(greatest), int(gain)))
        elif _NUMBER.fullmatch(label):
            if any(float(label) == number for number, _, _ in numbers):
                mistakes.append(f"{label} is given twice")
            numbers.append((float(label), float(label), int(gain)))
        elif label.casefold() in words:
            mistakes.append(f"{label} is given twice")
        else:
            words[label.casefold()] = int(gain)
    if mistakes:
        raise UsageError(f"Labels cannot be mapped: {'; '.join(mistakes)}.")
    if not words and not numbers and not ranges:
        return None
    return LabelMap(words, (*numbers, *ranges))  # a number before the ranges around it


def label_map_hint(label: Any) -> str:
    """How to read a label on another scale, to append to a message; "" for no label at all."""
    value = _value_of(label)
    if value is None:
        return ""
    if isinstance(value, str):
        if len(value) > _LONGEST_WORD or _NO_WORD.search(value):
            return ""
        entries = {value: "0" if value in _NEGATIVE_WORDS else "3" if value == "true" else "2"}
    elif 0 <= value <= 1:
        entries = {f"0.5{_RANGE}1": "2"} if 2 * value >= 1 else {f"0{_RANGE}0.5": "0"}
    else:
        written = f"{value:.15g}"
        if not _NUMBER.fullmatch(written) or float(written) != value:
            return ""
        entries = {written: str(GREATEST_GAIN if value > 0 else 0)}
    return "; if it is a label on another scale, say so with " + Remedy("label_map", entries)


def _value_of(label: Any) -> float | str | None:
    """A label as a number or a casefolded word; None if it is neither."""
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, int | float | Decimal):
        try:
            number = float(label)
        except OverflowError:
            return None
        return number if isfinite(number) else None
    if not isinstance(label, str) or not label.strip():
        return None
    text = label.strip()
    return float(text) if _NUMBER.fullmatch(text) else text.casefold()
