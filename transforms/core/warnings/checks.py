"""Turns counts of a run, a window or a survey into data warnings: one check per row of SPEC 10."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial

from msgspec.structs import replace

from goodgain.transforms.core.means.clusters import few_effective
from goodgain.transforms.core.metrics.group import fits_column
from goodgain.transforms.core.records.likely_fields import RESULT_FIELDS
from goodgain.transforms.core.records.similar_names import similar_name
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.warnings import codes, document_checks, label_checks
from goodgain.transforms.core.warnings.check_inputs import REJECTED, CheckInputs
from goodgain.transforms.core.warnings.count_checks import (
    COUNT_CHECKS,
    LABEL_CHECKS,
    TOPIC_CHECKS,
    check_counts,
)
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import counted, pluralize

_SOME_REPEAT = 1_000  # among this many results, some should be duplicates
_ENOUGH_CONVERSATIONS = 10  # of fewer, most may lack a value by chance
_SHOWN_NAMES = 5
_SECONDS_TO_MILLIS = 1_000
_MOST_CONFLICTING_SHARE = 0.01  # corrections that are sent later are rarely more
_MOST_FAILED_SHARE = 0.05  # of search calls
_SHOWN_TOOLS = 3
_ONE_COUNTS = (
    "of records of a conversation with the same `record_id` (without one: the same turn, iteration "
    "and `call`) only one counts"
)
_RESULTS_FIELD = Remedy("map", {"results": "FIELD"})


def warnings_of(inputs: CheckInputs) -> list[DataWarning]:
    """The warnings about the inputs, most serious first."""
    return [warning for check in _CHECKS for warning in check(inputs)]


def _empty_input(inputs: CheckInputs) -> Iterator[DataWarning]:
    if inputs.records == 0:
        yield DataWarning(
            codes.EMPTY_INPUT,
            0,
            None,
            "The input has no records at all.",
            f"Check the pattern of {Remedy('input')}, and the program that wrote the files.",
        )


def _no_results(inputs: CheckInputs) -> Iterator[DataWarning]:
    usable = (inputs.records or 0) - inputs.count(REJECTED)
    if usable <= 0 or inputs.counts.get(data_counts.RESULTS) != 0:
        return
    yield DataWarning(
        codes.NO_RESULTS,
        usable,
        1.0,
        pluralize(usable, "The only record that is scored has", f"The {usable:,} records have")
        + " no result in any scored turn, so all gains are 0.",
        f"{_where_results_are(inputs)}{inputs.accepted('allow_unlabelled')}.",
    )


def _where_results_are(inputs: CheckInputs) -> str:
    of_results = sorted(inputs.seen.call & RESULT_FIELDS)
    if of_results and "results" not in inputs.seen.call:
        return (
            f"The records themselves have fields of results ({', '.join(of_results)}). If each "
            "record is one result, convert them first: goodgain convert --from table FILE --output "
            "traces.jsonl"
        )
    return f"If the results are in another field, name it with {_RESULTS_FIELD}"


def _conflicting_redeliveries(inputs: CheckInputs) -> Iterator[DataWarning]:
    conflicting, read = inputs.count(data_counts.CONFLICTING), inputs.read
    if conflicting <= _MOST_CONFLICTING_SHARE * read:
        return
    share = conflicting / read
    yield DataWarning(
        codes.CONFLICTING_REDELIVERIES,
        conflicting,
        share,
        f"{conflicting:,} of {read:,} records ({share:.1%}) "
        + pluralize(
            conflicting,
            f"is not scored: {_ONE_COUNTS}, and this one differs from it.",
            f"are not scored: {_ONE_COUNTS}, and these differ from it.",
        ),
        "If they are different searches, check `turn` and `iteration`, and give each search of an "
        "iteration its own `call`, or leave `call` out; a `record_id` must be unique in its "
        "conversation. If they correct records that were sent before, ignore this.",
    )


def _unknown_fields(inputs: CheckInputs) -> Iterator[DataWarning]:
    if inputs.seen.without_source:
        occurring = inputs.seen.call | inputs.seen.result
        names = ", ".join(
            one
            + (f" (did you mean {near}?)" if (near := similar_name(one, sorted(occurring))) else "")
            for one in inputs.seen.without_source
        )
        yield DataWarning(
            codes.UNKNOWN_FIELDS,
            len(inputs.seen.without_source),
            None,
            f"{Remedy('map')} names fields that none of the first records has: {names}.",
            "Check how they are spelled; `goodgain validate` lists the names that occur.",
        )
    for kind, seen in (("cost", inputs.seen.costs), ("outcome", inputs.seen.outcomes)):
        unread = sorted(name for name in seen if not fits_column(name))
        if unread:
            yield DataWarning(
                codes.UNKNOWN_FIELDS,
                len(unread),
                None,
                f"{kind.capitalize()}s that are not read, since their names cannot be column "
                f"names: {', '.join(map(repr, unread[:_SHOWN_NAMES]))}.",
                f"Name each {kind} with letters, digits and single underscores, beginning with a "
                "letter.",
            )
    unknown = inputs.unknown_names
    if inputs.external:  # labels of the trace do not count anyway
        unknown = [replace(one, meant=None) if one.meant == "gain" else one for one in unknown]
    if not unknown:
        return
    shown = ", ".join(
        one.path + (f" ({one.meant}?)" if one.meant else "") for one in unknown[:_SHOWN_NAMES]
    )
    more = len(unknown) - _SHOWN_NAMES
    meant: dict[str, str] = {}
    for one in unknown:
        if one.meant is not None:
            meant.setdefault(one.meant, one.name)
    remedy = "If you do not need them, ignore this."
    if meant:
        remedy = f"If they are the fields named beside them, add {Remedy('map', meant)}."
    yield DataWarning(
        codes.UNKNOWN_FIELDS,
        len(unknown),
        None,
        f"Fields that are not read: {shown}{f', and {more:,} more' if more > 0 else ''}.",
        remedy,
    )


def _only_one_iteration(inputs: CheckInputs) -> Iterator[DataWarning]:
    results = inputs.count(data_counts.OF_ONE_ITERATION)
    if results < _SOME_REPEAT or inputs.count(data_counts.REPEATABLE):
        return
    yield DataWarning(
        codes.ONLY_ONE_ITERATION,
        results,
        1.0,
        f"All {results:,} results are of conversations with one iteration, so none can repeat an "
        "earlier iteration, and curves over iterations have one point.",
        "If the agent searched in several steps, check that conversation_id names the whole "
        "conversation, not a request or span, and that iteration numbers the steps.",
    )


def _few_effective_clusters(inputs: CheckInputs) -> Iterator[DataWarning]:
    found = inputs.clusters
    if found is None or not few_effective(found.clusters, found.effective):
        return
    yield DataWarning(
        codes.FEW_EFFECTIVE_CLUSTERS,
        found.clusters,
        None,
        f"The {found.clusters:,} clusters differ so much in size that they weigh like "
        f"{found.effective:.1f} of the same size, so intervals of means are too narrow.",
        "Take more clusters, or clusters of more equal size; `goodgain compare --pair-by "
        f"ATTRIBUTE`, with the attribute of {Remedy('cluster')}, gives each the same weight.",
    )


def _calls_failed(inputs: CheckInputs) -> Iterator[DataWarning]:
    calls, failed = inputs.count(data_counts.CALLS), inputs.count(data_counts.CALLS_FAILED)
    if failed <= _MOST_FAILED_SHARE * calls:
        return
    yield DataWarning(
        codes.CALLS_FAILED,
        failed,
        failed / calls,
        f"{failed:,} of {counted(calls, 'search call')} ({failed / calls:.1%}) failed"
        f"{_failed_by_tool(inputs)}.",
        "If the tool was down, repeat the conversations; to leave failed calls out of all metrics, "
        f"add {Remedy('without_failed')}.",
    )


def _failed_by_tool(inputs: CheckInputs) -> str:
    """The share of calls that failed, for the tools with most of them; "" without their names."""
    start = f"{data_counts.FAILED_BY_TOOL}."
    by_tool = {
        name.removeprefix(start): failed
        for name, failed in inputs.counts.items()
        if name.startswith(start)
    }
    shown = [
        f"{tool} {failed / inputs.count(f'{data_counts.CALLS_BY_TOOL}.{tool}'):.1%}"
        for tool, failed in sorted(by_tool.items(), key=lambda one: (-one[1], one[0]))
    ]
    return f": {', '.join(shown[:_SHOWN_TOOLS])}" if shown else ""


def _mostly_undefined(inputs: CheckInputs) -> Iterator[DataWarning]:
    by_share: dict[tuple[int, int], list[str]] = {}
    for one in inputs.undefined:
        if one.conversations >= _ENOUGH_CONVERSATIONS and 2 * one.undefined > one.conversations:
            by_share.setdefault((one.undefined, one.conversations), []).append(one.metric)
    if not by_share:
        return
    means = [
        f"{', '.join(names)} of {total - undefined:,} of {total:,} conversations"
        for (undefined, total), names in sorted(by_share.items(), reverse=True)
    ]
    undefined, total = max(by_share)
    yield DataWarning(
        codes.MOSTLY_UNDEFINED,
        undefined,
        undefined / total,
        f"Means over less than half of the conversations: {'; '.join(means)}. In the others the "
        "metric has no value, so the mean says nothing about them.",
        f"Judge with {Remedy('qrels')} or {Remedy('pool')}, so that conversations that found "
        "nothing count; or read "
        "hits, precision and CG, which are 0 there.",
    )


def _odd_times(inputs: CheckInputs) -> Iterator[DataWarning]:
    times = inputs.count(data_counts.TIMES)
    early, ahead = inputs.count(data_counts.BEFORE_1990), inputs.count(data_counts.AHEAD)
    if not early + ahead:
        return
    odd = []
    if early:
        odd.append(f"{early:,} {pluralize(early, 'lies', 'lie')} before 1990")
    if ahead and inputs.clock is not None:
        started = datetime.fromtimestamp(inputs.clock / _SECONDS_TO_MILLIS, UTC)
        odd.append(
            f"{ahead:,} {pluralize(ahead, 'lies', 'lie')} more than a day after this run "
            f"({started:%Y-%m-%d})"
        )
    seconds = inputs.count(data_counts.IN_SECONDS)
    in_seconds = (
        f"; {seconds:,} of them {pluralize(seconds, 'looks', 'look')} like seconds"
        if seconds
        else ""
    )
    yield DataWarning(
        codes.ODD_TIMES,
        early + ahead,
        (early + ahead) / times,
        f"Of {counted(times, 'timestamp')} {' and '.join(odd)}{in_seconds}.",
        "Write timestamps as milliseconds since 1970 or as ISO 8601"
        + (": multiply seconds by 1000." if seconds else "."),
    )


_CHECKS: tuple[Callable[[CheckInputs], Iterator[DataWarning]], ...] = (
    _empty_input,
    _no_results,
    label_checks.no_labels,
    label_checks.labels_below_threshold,
    label_checks.labels_below_relevance_threshold,
    document_checks.ids_contradicted,
    _conflicting_redeliveries,
    partial(check_counts, TOPIC_CHECKS),
    label_checks.few_labels,
    _unknown_fields,
    document_checks.no_identity,
    document_checks.no_duplicates,
    _only_one_iteration,
    _few_effective_clusters,
    document_checks.beyond_cutoff,
    _mostly_undefined,
    _calls_failed,
    _odd_times,
    label_checks.label_conflicts,
    label_checks.labels_of_passages,
    partial(check_counts, COUNT_CHECKS),
    label_checks.labels_apart,
    partial(check_counts, LABEL_CHECKS),
)
