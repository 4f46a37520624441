"""What the program of a judge answers: a line of JSON, checked."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from msgspec import Struct

from goodgain.pipeline.studies.pool.aspect_files import names_of
from goodgain.transforms.core.records.label_map import LabelMap, label_map_hint
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.records.written_label import LabelError, gain_of_label
from goodgain.transforms.core.remedy import Remedy

_SHOWN = 200


class BadAnswerError(Exception):
    """An answer that is not a label."""


class ProgramAnswer(Struct, frozen=True):
    """What a line says.

    Attributes:
      document: the document that it names, if any.
      label, aspects: as written; any value.
    """

    document: str | None
    label: Any
    aspects: Any
    line: bytes

    def check(self, label_map: LabelMap | None) -> None:
        """Make sure that there is a label, and that aspects are a list of names if there are any.

        Raises:
          BadAnswerError: it is no gain, or aspects are something else.
        """
        if not answers_aspects(self.aspects):
            raise BadAnswerError(f"its aspects are no list of names: {show_beginning(self.line)}")
        if parse_gain(self.label, label_map) is not None:
            return
        if label_map is not None:
            raise BadAnswerError(
                "it has no label that "
                + Remedy("label_map")
                + f" names: {show_beginning(self.line)}"
            )
        raise BadAnswerError(
            f"it has no gain from 0 to {GREATEST_GAIN}: {show_beginning(self.line)}"
            + label_map_hint(self.label)
        )


def answers_aspects(aspects: Any) -> bool:
    """Whether the aspects of an answer are a list of names, or missing."""
    try:
        return not isinstance(aspects, str) and (aspects is None or names_of(aspects) is not None)
    except LabelError:
        return False


def parse_gain(label: Any, label_map: LabelMap | None) -> int | None:
    """The gain of an answer's label; None if it is none. Without a map only numbers are gains."""
    if label_map is None and isinstance(label, str):
        return None
    try:
        return gain_of_label(label, label_map)
    except LabelError:
        return None


def parse_answer(output: bytes) -> ProgramAnswer:
    """The answer in the output of the program.

    Raises:
      BadAnswerError: it is not one line with a JSON object.
    """
    line, _, more = output.partition(b"\n")
    if not output:
        raise BadAnswerError("the program gave no answer (it ended)")
    if more:
        raise BadAnswerError(f"it is more than one line: {show_beginning(output)}")
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        raise BadAnswerError(f"no JSON: {show_beginning(line)}") from None
    if not isinstance(answer, dict):
        raise BadAnswerError(f"it is no JSON object: {show_beginning(line)}")
    document = answer.get("document")
    return ProgramAnswer(
        None if document is None else str(document), answer.get("gain"), answer.get("aspects"), line
    )


def document_in(line: bytes) -> str | None:
    """The document that a line names, if it is an answer."""
    with suppress(BadAnswerError):
        return parse_answer(line).document
    return None


def show_beginning(written: bytes) -> str:
    """The beginning of what a program wrote, for messages."""
    return repr(written[:_SHOWN])
