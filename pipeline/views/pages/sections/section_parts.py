"""What sections of several pages have: menus, warnings, definitions, parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from goodgain.pipeline.document.model import Cell, Sentence, TableColumn, join_blocks, table
from goodgain.pipeline.document.page import (
    CopyCommand,
    Definitions,
    Details,
    Entry,
    Menu,
    PageBlock,
    Section,
    section,
)
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.views.pages.data.definitions import Definition, Glossary
from goodgain.transforms.core.wording import format_count

NOTHING = Sentence(
    "Nothing to show: no conversation both searched and could be evaluated.", "strong"
)
_LONGEST = 600
_LONGEST_DIMENSION = 60


def metric_menu(
    id: str, groups: Iterable[tuple[str, Sequence[Definition]]], chosen: str = ""
) -> Menu:
    """A menu of metrics, with the definition of the chosen one beside it."""
    options = tuple(
        (title, tuple((definition.metric.name, definition.label) for definition in definitions))
        for title, definitions in groups
    )
    return Menu(id, "Metric", options, chosen, tells=True)


def name_menu(id: str, label: str, names: Iterable[str], chosen: str = "") -> Menu:
    """A menu of names."""
    return Menu(id, label, (("", tuple((name, name) for name in names)),), chosen)


def dimension_menu(id: str, dimensions: Iterable[Sequence[str]]) -> Menu:
    """A menu of the groups of attributes that make slices."""
    names = (shorten(", ".join(names), _LONGEST_DIMENSION) for names in dimensions)
    return Menu(id, "By", (("", tuple((str(at), name) for at, name in enumerate(names))),))


def warnings_section(warnings: Iterable[Sentence]) -> Iterator[Section]:
    """The warnings about the data, if there are any."""
    if blocks := tuple(warnings):
        about = "What is unusual about the data, and how it affects the numbers below."
        yield section("warnings", "Warnings", about, blocks)


def definitions_section(glossary: Glossary, good_from: str) -> Section:
    """What each number means.

    Args:
      good_from: the gain from which a result is good.
    """
    groups = (
        ("At the last iteration", glossary.measures),
        ("Ranking metrics", glossary.ranking),
        ("Through iteration i", glossary.so_far),
        ("Of iteration i alone", glossary.each),
    )
    return section(
        "definitions",
        "Definitions",
        f"What each number means. A result is good when its gain is at least {good_from}; i counts "
        "the iterations of the last turn that searched, and N is the last of them.",
        (definitions(title, group) for title, group in groups if group),
    )


def definitions(title: str, group: Iterable[Definition]) -> Definitions:
    """The definitions of some metrics."""
    return Definitions(
        title,
        tuple(
            Entry(
                definition.anchor,
                definition.label,
                definition.metric.unit,
                f"{definition.metric.explained} {definition.better}".strip(),
                definition.metric.formula,
                tuple(_notes(definition)),
            )
            for definition in group
        ),
    )


def _notes(definition: Definition) -> Iterator[str]:
    if definition.own_ideal:
        yield (
            "Own ideal: the ideal list holds only what this run found, so values of different runs "
            "compare only with shared judgments."
        )
    if definition.metric.undefined:
        yield f"Undefined when {definition.metric.undefined}."


def parameter_blocks(caption: str, parameters: Mapping[str, Any]) -> tuple[PageBlock, ...]:
    """Names of parameters with their values as JSON; those without a value are folded."""
    columns = (TableColumn("name", whole=True), TableColumn("value"))
    given, unset = (
        [
            (parameter_name(name), json_cell(parameter))
            for name, parameter in parameters.items()
            if _is_unset(parameter) == without
        ]
        for without in (False, True)
    )
    summary = f"{format_count(len(unset), 'parameter is', 'parameters are')} off, or not given"
    folded = Details(summary, (table(columns, unset, f"{caption}: off, or not given"),))
    return join_blocks(table(columns, given, caption), folded if unset else None)


def _is_unset(parameter: Any) -> bool:
    return parameter is None or parameter is False or parameter in ((), [], {})


def parameter_name(field: str) -> str:
    """The name of a parameter whose field may end in _ to be none of Python's words."""
    return field.rstrip("_")


def json_cell(given: Any) -> Cell:
    """A value as JSON."""
    return Cell(msgspec.json.encode(given).decode(), "code", longest=_LONGEST)


def sentences_if(*lines: str) -> Iterator[PageBlock]:
    """The sentences that have a text."""
    yield from (Sentence(line) for line in lines if line)


def command_block(command: str | None, name: str) -> CopyCommand | Sentence:
    """A command to copy.

    Args:
      command: None if there is none; see `explain_command`.
      name: what copying copies.
    """
    if command is None:
        return Sentence(
            "There is no command to copy: it would be too long (see `goodgain explain --help`), or "
            "a run had something in memory (call `run.explain` in Python).",
            "quiet",
        )
    return CopyCommand(command, name)
