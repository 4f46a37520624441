"""The sections of a comparison's page about its arms: pool, examples, accounts, parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.document.model import (
    Cell,
    Heading,
    Sentence,
    TableBlock,
    TableColumn,
    count,
    table,
)
from goodgain.pipeline.document.numbers import count_text, difference_text, share, short_text
from goodgain.pipeline.document.page import (
    Beside,
    Chart,
    Command,
    Fold,
    Item,
    Items,
    PageBlock,
    Section,
    blocks_of,
    section,
)
from goodgain.pipeline.document.safe_text import shortened
from goodgain.pipeline.views.pages.sections.shared import json_cell, parameters_table
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.wording import counted

Row = Mapping[str, Any]
ARMS = ("base", "candidate")
_MOST_EXAMPLES = 25
_MOST_TOPICS = 12  # with documents that one arm alone found
_MOST_DOCUMENTS = 5  # per topic and arm
_LONGEST_KEY = 80
_LONGEST_DOCUMENT = 120
_LONGEST_FOLDER = 400
_TITLES = (("Largest wins", "wins"), ("Largest losses", "losses"))
_FOUND_BY = {
    "both": "both",
    "base": "the base alone",
    "candidate": "the candidate alone",
    "neither": "neither",
}


def pool_section(pool: Row, documents: Iterable[Row]) -> Section:
    """How much of the pool each arm found.

    Args:
      documents: rows of `pool_documents`.
    """
    good = sum(pool[who] for who in _FOUND_BY)
    left_out = pool["topics_of_one_arm"]
    is_left_out = counted(
        left_out, "topic that only one arm searched is", "topics that only one arm searched are"
    )
    return section(
        "pool",
        "Share of the pool",
        "Share of the good documents known for the topic (found by any pooled run) that each arm "
        "had found by iteration i. Both arms use the pool "
        f"`{shortened(pool['folder'], _LONGEST_DOCUMENT)}`.",
        Chart("pool", "Good documents of the pool found by i", "with 95 % bands.")
        if pool["shares"]
        else Sentence(
            "The share by iteration was not compared; add `--metrics pool_recall`.", "strong"
        ),
        Heading("Who found what"),
        Sentence(
            f"The {counted(good, 'good document')} of the {counted(pool['topics'], 'topic')} that "
            "both arms searched, each counted once."
            + (f" {is_left_out} left out." if left_out else "")
        ),
        table(
            ("found by", "documents", "share"),
            [(words, count(pool[who]), share(pool[who], good)) for who, words in _FOUND_BY.items()],
            "Good documents by who found them",
        ),
        _listed(pool, documents),
    )


def _listed(pool: Row, documents: Iterable[Row]) -> Iterator[PageBlock]:
    if pool["note"]:
        yield Sentence(f"The documents cannot be listed: {pool['note']}.", "strong")
        return
    topics = _one_sided(documents)
    if not topics:
        return
    yield Heading("Found by one arm alone")
    yield Sentence(
        "The topics on which the arms differ most, with labels in brackets. All documents are in "
        "the dataset `pool_documents`.",
        "quiet",
    )
    for at, (topic, by_arm) in enumerate(list(topics.items())[:_MOST_TOPICS]):
        counts = (f"{count_text(len(found))} by the {arm} alone" for arm, found in by_arm.items())
        yield Fold(
            f"{shortened(topic, _LONGEST_KEY)}: {', '.join(counts)}",
            blocks_of(*(_found(arm, found) for arm, found in by_arm.items() if found)),
            "conversation",
            is_open=at == 0,
        )


def _one_sided(rows: Iterable[Row]) -> dict[str, dict[str, list[Row]]]:
    """The pool documents that only the base or only the candidate found, by topic."""
    topics: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        if row["found_by"] in ARMS:
            topic = row["topic"] if row["topic"] is not None else row["conversation_id"]
            topics.setdefault(topic, {name: [] for name in ARMS})[row["found_by"]].append(row)
    return topics


def _found(arm: str, documents: Sequence[Row]) -> Iterator[Sentence]:
    yield Sentence(f"Only the {arm}:", "quiet")
    best_first = sorted(documents, key=lambda row: (-row["label"], row["number"]))
    for one in best_first[:_MOST_DOCUMENTS]:
        name = shortened(one["title"] or one["document"], _LONGEST_DOCUMENT)
        url = f" {shortened(one['url'], _LONGEST_DOCUMENT)}" if one["url"] else ""
        yield Sentence(f"[{one['label']}] {name}{url}", "quiet", indent=1)
    if len(documents) > _MOST_DOCUMENTS:
        more = count_text(len(documents) - _MOST_DOCUMENTS)
        yield Sentence(f"and {more} more", "quiet", indent=1)


def examples_section(examples: Row, reason: str | None) -> Section:
    """The pairs that differ most.

    Args:
      reason: why the metric that selects them is not comparable.
    """
    label = metric_by_name(examples["metric"]).label
    return section(
        "examples",
        "Wins and losses",
        f"The pairs that differ most in {label}. The commands explain result by result what each "
        "agent found and how it was counted.",
        Sentence(f"{label} is not comparable. {reason[:1].upper()}{reason[1:]}.", "warning")
        if reason
        else None,
        *(_examples(title, examples[kind]) for title, kind in _TITLES),
    )


def _examples(title: str, found: Sequence[Row]) -> Iterator[PageBlock]:
    yield Heading(title)
    if not found:
        yield Sentence("No such pair.", "strong")
        return
    yield Items(tuple(map(_example, found[:_MOST_EXAMPLES])))
    if len(found) > _MOST_EXAMPLES:
        more = count_text(len(found) - _MOST_EXAMPLES)
        yield Sentence(f"{more} more are in `manifest.json`.", "quiet")


def _example(example: Row) -> Item:
    name, key = example["metric"], shortened(example["key"], _LONGEST_KEY)
    change = difference_text(name, example["difference"])
    commands = example["commands"] or [None]
    arms = ARMS if len(commands) == len(ARMS) else ("",)
    return Item(
        key,
        blocks_of(
            Sentence(f"{metric_by_name(name).label}: {change}", "quiet"),
            _numbers_table(example, key),
            (
                Command(
                    command, f"the command that explains {key}" + (f" in the {arm}" if arm else "")
                )
                for command, arm in zip(commands, arms, strict=False)
            ),
        ),
    )


def _numbers_table(example: Row, key: str) -> TableBlock:
    """The metrics of an example in both arms; the one it was chosen by too."""
    base = {example["metric"]: example["base_value"], **example["base_numbers"]}
    candidate = {example["metric"]: example["candidate_value"], **example["candidate_numbers"]}
    return table(
        ("metric", *ARMS),
        [
            (
                metric_by_name(name).label,
                short_text(name, value),
                short_text(name, candidate[name]),
            )
            for name, value in base.items()
        ],
        f"Both arms in {key}",
    )


def accounts_section(manifest: Mapping[str, Any]) -> Section:
    """What became of every conversation."""
    accounts = [(name, one) for name in ARMS if (one := manifest[f"{name}_account"])]
    return section(
        "accounts",
        "Account of conversations",
        "Every conversation of both arms, counted in exactly one line. Only pairs enter the "
        "differences above; in population `everyone` conversations that did not search count, too."
        if accounts
        else "",
        Beside(tuple((_account_table(name, one),) for name, one in accounts))
        if accounts
        else Sentence(_unpaired(manifest), "strong"),
        _only_in_one(manifest),
    )


def _account_table(name: str, account: Row) -> TableBlock:
    repeated = (
        f" ({count_text(account['repeated'])} share their key; each key counts once, with their "
        "mean)"
        if account["repeated"]
        else ""
    )
    return table(
        ("conversations", "count"),
        [
            (f"in a pair in which both searched{repeated}", count(account["paired"])),
            *((why, count(n)) for why, n in account["unmatched"].items()),
            (
                Cell("all", tone="strong"),
                Cell(count_text(account["conversations"]), tone="strong"),
            ),
        ],
        name.capitalize(),
    )


def _unpaired(manifest: Mapping[str, Any]) -> str:
    why = (
        ", as requested"
        if manifest["request"]["unpaired"]
        else ": the arms share no conversation_id"
    )
    base, candidate = (manifest[arm]["conversations"] for arm in ARMS)
    return (
        f"No pairs were formed{why}. {counted(base, 'conversation')} of the base and "
        f"{count_text(candidate)} of the candidate count."
    )


def _only_in_one(manifest: Mapping[str, Any]) -> Iterator[Sentence]:
    for arm in ARMS:
        if metrics := manifest[f"metrics_only_in_{arm}"]:
            yield Sentence(f"Only the {arm} has {', '.join(metrics)}: not compared.", "quiet")


def parameters_section(manifest: Mapping[str, Any]) -> Section:
    """Parameters of both runs and of the comparison."""
    return section(
        "parameters",
        "Parameters",
        "Parameters of both runs and of the comparison: enough to repeat it.",
        Beside(((_runs_table(manifest),), (parameters_table("Comparison", manifest["request"]),))),
    )


def _runs_table(manifest: Mapping[str, Any]) -> TableBlock:
    base, candidate = (manifest[arm] for arm in ARMS)
    names = dict.fromkeys((*base["parameters"], *candidate["parameters"]))
    digests = [one["rules_digest"] for one in (base, candidate)]
    folders = (Cell(one["folder"], "code", longest=_LONGEST_FOLDER) for one in (base, candidate))
    return table(
        (TableColumn("name", whole=True), TableColumn("base"), TableColumn("candidate")),
        [
            *(
                (name, *_both(base["parameters"].get(name), candidate["parameters"].get(name)))
                for name in names
            ),
            ("folder", *folders),
            ("rules digest", *_both(*digests)),
        ],
        "Runs",
    )


def _both(base: Any, candidate: Any) -> tuple[Cell, Cell]:
    same = base == candidate
    return json_cell(base), Cell("same") if same else json_cell(candidate)
