"""The data warnings of SPEC 10 that are about documents: what identifies them, and their ranks."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.warnings import codes
from goodgain.transforms.core.warnings.check_inputs import SOME_REPEAT, CheckInputs
from goodgain.transforms.core.warnings.identity_advice import advise_on_identity
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import pluralize

_MOST_UNIDENTIFIED_SHARE = 0.1
_ENOUGH_COMPARED = 20  # duplicates, and good documents; a share of fewer says little
_MOST_CONTRADICTED_SHARE = 0.1
_MOST_BEYOND_SHARE = 0.5


def warn_of_contradicted_ids(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if URL and title often contradict the ids that make results one document."""
    contradicted = inputs.part(data_counts.IDS_CONTRADICTED, data_counts.IDS_COMPARED)
    if not contradicted.exceeds(_MOST_CONTRADICTED_SHARE, _ENOUGH_COMPARED):
        return
    examples = inputs.contradicted_ids
    names = sorted({example.name for example in examples})
    ids = " and ".join(f"ids.{name}" for name in names) or "their ids"
    also = pluralize(contradicted.count, "has", "have")
    yield DataWarning(
        codes.IDS_CONTRADICTED,
        contradicted.count,
        contradicted.share,
        f"{contradicted.of('results')} that count as duplicates by {ids} "
        f"{also} another URL and another title than the one they repeat, so the ids may be "
        "positions in a list, or numbers that are used again, which make different documents one"
        + (f": {'; '.join(map(str, examples))}." if examples else "."),
        "If they do not identify documents, leave them out with "
        + Remedy("map", {f"ids.{name}": "" for name in names} or None)
        + inputs.how_to_accept("allow_contradicted_ids")
        + ".",
    )


def warn_of_finds_beyond_cutoff(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if the cutoffs leave out most of what later iterations found."""
    beyond = inputs.part(data_counts.GOOD_BEYOND, data_counts.GOOD_LATER)
    if not beyond.exceeds(_MOST_BEYOND_SHARE, _ENOUGH_COMPARED):
        return
    by_call = (
        "the dataset `calls`, which ranks each search call"
        if inputs.per_call
        else "rank each search call with " + Remedy("per_call")
    )
    yield DataWarning(
        codes.BEYOND_CUTOFF,
        beyond.count,
        beyond.share,
        f"{beyond.of('good documents that later iterations found')} stand beyond "
        f"rank {inputs.cutoff} in the list of their turn, so metrics that are cut "
        "there describe the first iterations.",
        "Read GR and CG, which count all iterations, or " + by_call + ".",
    )


def warn_of_no_identity(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if nothing identifies many results."""
    unidentified = inputs.part(data_counts.UNIDENTIFIED, data_counts.RESULTS)
    if not unidentified.exceeds(_MOST_UNIDENTIFIED_SHARE):
        return
    names, advice = advise_on_identity(inputs.seen, inputs.rules)
    unused = f" Ids and fields that no rule uses: {', '.join(names)}." if names else ""
    unread = next((name for name in inputs.unknown_names if name.identifies), None)
    if unread:
        advice = (
            f"If {unread.name} identifies a document, add "
            + Remedy("map", {unread.meant or "": unread.name})
            + f". Otherwise: {advice[:1].lower()}"
            + advice.removeprefix(advice[:1])
        )
    yield DataWarning(
        codes.NO_IDENTITY,
        unidentified.count,
        unidentified.share,
        f"{unidentified.of('results')} {pluralize(unidentified.count, 'has', 'have')} no "
        f"id that counts, no URL and no text to find a copy by, so repeated "
        f"documents count as new ones.{unused}",
        advice,
    )


def warn_of_no_duplicates(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if no result repeats an earlier one."""
    results = inputs.count(data_counts.REPEATABLE)
    if results < SOME_REPEAT or inputs.count(data_counts.REPEATS):
        return
    yield DataWarning(
        codes.NO_DUPLICATES,
        results,
        1.0,
        f"None of the {results:,} results of conversations with several iterations repeats an "
        "earlier one, so SRR is 0 and everything counts as new.",
        "`goodgain validate` shows which ids, URLs and texts can identify a document.",
    )
