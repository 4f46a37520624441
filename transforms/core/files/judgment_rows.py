"""The judgment in a line of text or a row of a table (SPEC 8)."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from decimal import Decimal
from sys import intern
from typing import Any

import msgspec

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.line_splitter import LongLine
from goodgain.transforms.core.files.text_lines import CutOffLine, Line
from goodgain.transforms.core.judgments.judgment import Judgment, JudgmentPlace
from goodgain.transforms.core.records.coercion import is_blank
from goodgain.transforms.core.records.label_map import LabelMap, label_map_hint
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.wording import format_count

TOPIC = ("topic", "conversation_id", "query_id", "query-id")
DOCUMENT = ("document_id", "doc_id", "docid", "docno", "corpus_id", "corpus-id")
GAIN = ("gain", "label", "relevance")
# Of a table with one of these, `score` is the label; elsewhere it is a retriever's.
_BEIR_DOCUMENT, BEIR_LABEL = ("corpus_id", "corpus-id"), "score"
_BEIR_HEADER = [b"query-id", b"corpus-id", b"score"]
COLUMNS = frozenset((*TOPIC, *DOCUMENT, *GAIN, BEIR_LABEL))
_TREC_FIELDS, _BEIR_FIELDS, _EXCLUDED_FIELDS = 4, 3, 2
_LONGEST_SHOWN = 60
_DELIMITERS = re.compile(rb"[,\t;|]")
_PLAIN_GAINS = {str(gain): gain for gain in range(GREATEST_GAIN + 1)}  # nearly all labels
_decode_json = msgspec.json.Decoder().decode


class JudgmentError(GoodGainError):
    """A judgment that cannot be used; the message is a sentence to print after its location."""


def is_header(line: bytes) -> bool:
    """Whether a line is the header of BEIR's TSV, with or without the column of the label."""
    if not line.lstrip().startswith(_BEIR_HEADER[0]):  # splitting every line would take longer
        return False
    return line.split() in (_BEIR_HEADER, _BEIR_HEADER[:_EXCLUDED_FIELDS])


def is_table(head: bytes) -> bool:
    """Whether a text begins with the names of columns of a table of judgments, but not BEIR's."""
    first = head.removeprefix(BOM_UTF8).split(b"\n", 1)[0]
    written = [name.strip().strip(b'"') for name in _DELIMITERS.split(first)]
    names = {name.decode("utf-8", "replace") for name in written}
    is_named = bool(names.intersection(TOPIC)) and bool(names.intersection(DOCUMENT))
    return is_named and not is_header(first)


def judgment_of_line(
    line: Line, place: JudgmentPlace, label_map: LabelMap | None = None
) -> Judgment:
    """The judgment on a line of TREC qrels, of BEIR's TSV, or of JSON Lines, beginning with `{`.

    Raises:
      JudgmentError: it cannot be used.
    """
    row = _decode_line(line)
    if not isinstance(row, str):
        return judgment_of_row(row, place, label_map)
    fields = row.split()
    if len(fields) == _TREC_FIELDS:
        topic, _, document, label = fields
        gain = _PLAIN_GAINS.get(label) if label_map is None else None
        # A file repeats each topic for line after line; these need not be stripped.
        topic = intern(topic)
        return Judgment(topic, document, _gain(label, label_map) if gain is None else gain, place)
    topic, document, label = _beir_fields(row)
    return _judgment(topic, document, _gain(label, label_map), place)


def parse_exclusion_line(line: Line, place: JudgmentPlace, _: LabelMap | None = None) -> Judgment:
    """The exclusion on a line `topic docno`, or of JSON Lines, as a judgment without a label.

    Raises:
      JudgmentError: it cannot be used.
    """
    row = _decode_line(line)
    if not isinstance(row, str):
        return parse_exclusion_row(row, place)
    by_tabs = row.split("\t")
    fields = by_tabs if len(by_tabs) == _EXCLUDED_FIELDS else row.split()
    if len(fields) != _EXCLUDED_FIELDS:
        raise JudgmentError(
            "A line of exclusions is `topic docno`, two fields between white space, or between "
            f"one tab; this one has {format_count(len(fields), 'field')}."
        )
    return _judgment(fields[0], fields[1], None, place)


def _decode_line(line: Line) -> Any:
    """The text of a line; of a line that begins with `{`, its JSON object."""
    if isinstance(line, CutOffLine):
        raise JudgmentError(f"The file cannot be read from here on: {line.problem}.")
    if isinstance(line, LongLine):
        raise JudgmentError(f"The line is {len(line)} bytes long, too long for a judgment.")
    try:
        return _decode_json(line) if line.lstrip().startswith(b"{") else line.decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise JudgmentError("The line is neither UTF-8 text nor a JSON object.") from None


def _beir_fields(line: str) -> tuple[str, str, str]:
    """Topic, document and label of a line of BEIR's TSV."""
    beir, fields = line.split("\t"), len(line.split())
    if len(beir) == _BEIR_FIELDS:
        return beir[0], beir[1], beir[2].strip()
    raise JudgmentError(
        "A line of qrels is `topic iteration docid label`, four fields between white space, or "
        f"topic, document and label between tabs; this one has {format_count(fields, 'field')}. "
        "The first line of a table names its columns, like topic, document_id and gain."
    )


def judgment_of_row(row: Any, place: JudgmentPlace, label_map: LabelMap | None = None) -> Judgment:
    """The judgment in a row of a table.

    Raises:
      JudgmentError: a column is missing, or a value cannot be used.
    """
    if not isinstance(row, Mapping):
        raise JudgmentError("The row is not an object with named fields.")
    is_beir = any(name in row for name in _BEIR_DOCUMENT)
    gains = (*GAIN, BEIR_LABEL) if is_beir else GAIN
    topic, document, gain = (_column(row, names) for names in (TOPIC, DOCUMENT, gains))
    gain = None if is_blank(gain) else _gain(gain, label_map)
    return _judgment(_text(topic), _text(document), gain, place)


def parse_exclusion_row(row: Any, place: JudgmentPlace, _: LabelMap | None = None) -> Judgment:
    """The exclusion in a row of a table, as a judgment without a label.

    Raises:
      JudgmentError: a column is missing, or a value cannot be used.
    """
    if not isinstance(row, Mapping):
        raise JudgmentError("The row is not an object with named fields.")
    topic, document = (_column(row, names) for names in (TOPIC, DOCUMENT))
    return _judgment(_text(topic), _text(document), None, place)


def _judgment(topic: str, document: str, gain: int | None, place: JudgmentPlace) -> Judgment:
    topic, document = topic.strip(), document.strip()
    if not topic or not document:
        raise JudgmentError(f"The {'document' if topic else 'topic'} is empty.")
    return Judgment(topic, document, gain, place)


def _column(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if name in row:
            return row[name]
    raise JudgmentError(f"The row has no {names[0]} (also read: {', '.join(names[1:])}).")


def _text(value: Any) -> str:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise JudgmentError(
                f"The topic or document is {value!a}, which is not UTF-8 text."
            ) from None
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise JudgmentError(f"The topic or document is {_show(value)}, but must be text.")


def _gain(value: Any, label_map: LabelMap | None) -> int | None:
    """The gain of a label; None if the document is not judged."""
    gain = None if label_map is None else label_map.gain(value)
    if gain is not None:
        return gain
    number = _whole_number(value)
    if number is None or number < 0:
        return None
    if label_map is not None:
        raise JudgmentError(
            f"The label is {_show(value)}, which " + Remedy("label_map") + " does not name."
        )
    if number > GREATEST_GAIN:
        raise JudgmentError(
            f"The label is {number}, but gains go from 0 to {GREATEST_GAIN} (a negative one means "
            "not judged)" + label_map_hint(number) + "."
        )
    return number


def _whole_number(value: Any) -> int | None:
    """A label as a number; None stays None, which means not judged."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float | Decimal) and value == value and value % 1 == 0:
        return int(value)
    if isinstance(value, str) and value.lstrip("+-").isdecimal() and len(value) < _LONGEST_SHOWN:
        try:
            return int(value)
        except ValueError:
            pass
    raise JudgmentError(
        f"The label is {_show(value)}, but must be a whole number" + label_map_hint(value) + "."
    )


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
