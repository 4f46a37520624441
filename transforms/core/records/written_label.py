"""Reads the label that a person or a program wrote, possibly on another scale (SPEC 8)."""

from __future__ import annotations

from typing import Any

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.records.label_map import LabelMap, label_map_hint
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.remedy import Remedy

_SHOWN = 20


class LabelError(GoodGainError):
    """A label that is no gain; the message is a sentence."""


def gain_of_label(label: Any, label_map: LabelMap | None) -> int | None:
    """The gain of a label; None of no label or a blank one.

    Args:
      label_map: the gains of labels on another scale; None = labels are gains.

    Raises:
      LabelError: it is neither a gain nor named by `label_map`.
    """
    written = "" if label is None else str(label).strip()
    if not written:
        return None
    if label_map is not None:
        gain = label_map.gain(label)
        if gain is None:
            raise LabelError(
                f"The label is {written[:_SHOWN]!r}, which "
                + Remedy("label_map")
                + " does not name."
            )
        return gain
    try:
        value = float(written)
    except ValueError:
        value = -1
    if isinstance(label, bool) or value not in range(GREATEST_GAIN + 1):
        raise LabelError(
            f"The label {written[:_SHOWN]!r} is not a whole number from 0 to {GREATEST_GAIN}"
            + label_map_hint(label)
            + "."
        )
    return int(value)
