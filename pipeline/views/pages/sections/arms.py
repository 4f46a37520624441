"""The sections of a comparison's page about its arms: examples, accounts, parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import asdict

from goodgain.pipeline.document.model import (
    Cell,
    Heading,
    Sentence,
    TableBlock,
    TableColumn,
    count,
    join_blocks,
    sentences,
    table,
)
from goodgain.pipeline.document.numbers import count_text
from goodgain.pipeline.document.page import (
    Beside,
    Details,
    Item,
    Items,
    PageBlock,
    Section,
    section,
)
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.studies.comparison.examples import Example, Examples
from goodgain.pipeline.studies.comparison.manifest import ComparisonManifest
from goodgain.pipeline.studies.comparison.matching import Account
from goodgain.pipeline.views.comparison_arms import describe_uncompared
from goodgain.pipeline.views.comparison_examples import (
    example_text,
    query_text,
    title_lists,
    withheld_sentence,
)
from goodgain.pipeline.views.pages.sections.section_parts import (
    command_block,
    json_cell,
    parameter_blocks,
    parameter_name,
)
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.wording import format_count

ARMS = ("base", "candidate")
_MOST_EXAMPLES = 25
_LONGEST_KEY = 80
_LONGEST_FOLDER = 400


def examples_section(examples: Examples, reason: str | None) -> Section:
    """The pairs that differ most.

    Args:
      reason: why the metric that selects them is not comparable.
    """
    return section(
        "examples",
        "Wins and losses",
        f"The pairs that differ most in {metric_by_name(examples.metric).label}. The commands "
        "show what each agent found, and how it was counted.",
        withheld_sentence(examples.metric, reason) if reason else None,
        *(_examples(title, found) for title, found in title_lists(examples)),
    )


def _examples(title: str, found: Sequence[Example]) -> Iterator[PageBlock]:
    yield Heading(title)
    if not found:
        yield Sentence("No such pair.", "strong")
        return
    yield Items(tuple(map(_example, found[:_MOST_EXAMPLES])))
    if len(found) > _MOST_EXAMPLES:
        more = count_text(len(found) - _MOST_EXAMPLES)
        yield Sentence(f"{more} more are in `manifest.json`.", "quiet")


def _example(example: Example) -> Item:
    key, commands = shorten(example.key, _LONGEST_KEY), example.commands or (None,)
    arms = ARMS if len(commands) == len(ARMS) else ("",)
    asked = query_text(example)
    return Item(
        key,
        join_blocks(
            Sentence(asked) if asked else None,
            Sentence(example_text(example), "quiet"),
            (
                command_block(
                    command, f"the command that explains {key}" + (f" in the {arm}" if arm else "")
                )
                for command, arm in zip(commands, arms, strict=False)
            ),
        ),
    )


def accounts_section(manifest: ComparisonManifest) -> Section:
    """What became of every conversation."""
    of_arms = zip(ARMS, (manifest.base_account, manifest.candidate_account), strict=True)
    accounts = [(name, account) for name, account in of_arms if account]
    return section(
        "accounts",
        "Account of conversations",
        "Every conversation of both arms, counted in exactly one line. Only pairs enter the "
        "differences above; in population `everyone` conversations that did not search count, too."
        if accounts
        else "",
        Beside(tuple((_account_table(name, account),) for name, account in accounts))
        if accounts
        else Sentence(_explain_unpaired(manifest), "strong"),
        sentences(
            describe_uncompared(manifest.metrics_only_in_base, manifest.metrics_only_in_candidate),
            "quiet",
        ),
    )


def _account_table(name: str, account: Account) -> TableBlock:
    repeated = (
        f" ({count_text(account.repeated)} share their key; each key counts once, with their mean)"
        if account.repeated
        else ""
    )
    return table(
        ("conversations", "count"),
        [
            (f"in a pair in which both searched{repeated}", count(account.paired)),
            *((why, count(n)) for why, n in account.unmatched.items()),
            (
                Cell("all", tone="strong"),
                Cell(count_text(account.conversations), tone="strong"),
            ),
        ],
        name.capitalize(),
    )


def _explain_unpaired(manifest: ComparisonManifest) -> str:
    why = ", as requested" if manifest.request.unpaired else ": the arms share no conversation_id"
    base, candidate = manifest.base.conversations, manifest.candidate.conversations
    return (
        f"No pairs were formed{why}. {format_count(base, 'conversation')} of the base and "
        f"{count_text(candidate)} of the candidate count."
    )


def parameters_section(manifest: ComparisonManifest) -> Section:
    """Parameters of both runs and of the comparison."""
    return section(
        "parameters",
        "Parameters",
        "Parameters of both runs and of the comparison: enough to repeat it.",
        Beside(
            (
                _runs_blocks(manifest),
                parameter_blocks("Comparison", asdict(manifest.request)),
            )
        ),
    )


def _runs_blocks(manifest: ComparisonManifest) -> tuple[PageBlock, ...]:
    """What differs between both runs, and folded what is the same."""
    base, candidate = manifest.base, manifest.candidate
    names = dict.fromkeys((*base.parameters, *candidate.parameters))
    digests = [arm.rules_digest for arm in (base, candidate)]
    folders = (Cell(arm.folder, "code", longest=_LONGEST_FOLDER) for arm in (base, candidate))
    values = {
        parameter_name(name): (base.parameters.get(name), candidate.parameters.get(name))
        for name in names
    } | {"rules digest": tuple(digests)}
    differ = [
        (name, json_cell(ours), json_cell(theirs))
        for name, (ours, theirs) in values.items()
        if ours != theirs
    ]
    same = [(name, json_cell(ours)) for name, (ours, theirs) in values.items() if ours == theirs]
    named = TableColumn("name", whole=True)
    return join_blocks(
        table(
            (named, TableColumn("base"), TableColumn("candidate")),
            [("folder", *folders), *differ],
            "Runs",
        ),
        Details(
            f"{format_count(len(same), 'parameter is', 'parameters are')} the same",
            (table((named, TableColumn("value")), same, "Both runs"),),
        ),
    )
