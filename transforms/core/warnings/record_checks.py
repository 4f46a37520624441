"""The data warnings of SPEC 10 that are about records: their number, fields, places and times."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec.structs import replace

from goodgain.transforms.core.metrics.group import fits_column
from goodgain.transforms.core.records.likely_fields import RESULT_FIELDS
from goodgain.transforms.core.records.similar_names import find_similar_name
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.warnings import codes
from goodgain.transforms.core.warnings.check_inputs import (
    REJECTED,
    SOME_REPEAT,
    CheckInputs,
    Portion,
)
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import format_count, format_percent, pluralize

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


def warn_of_empty_input(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if there are no records at all."""
    if inputs.records == 0:
        yield DataWarning(
            codes.EMPTY_INPUT,
            0,
            None,
            "The input has no records at all.",
            "Check its path or pattern, and the program that wrote it.",
        )


def warn_of_no_results(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if no scored record has a result."""
    rejected = inputs.count(REJECTED)
    usable = (inputs.records or 0) - rejected
    if usable <= 0 or inputs.counts.get(data_counts.RESULTS) != 0:
        return
    yield DataWarning(
        codes.NO_RESULTS,
        usable,
        1.0,
        pluralize(
            usable,
            "The only record that is scored has",
            f"The {usable:,} records{' that were not rejected' if rejected else ''} have",
        )
        + " no result in any scored turn, so all gains are 0.",
        _where_results_are(inputs) + inputs.how_to_accept("allow_unlabelled") + ".",
    )


def _where_results_are(inputs: CheckInputs) -> str:
    of_results = sorted(inputs.seen.call & RESULT_FIELDS)
    if of_results and "results" not in inputs.seen.call:
        return (
            f"The records themselves have fields of results ({', '.join(of_results)}). If each "
            "record is one result, convert them first: goodgain convert --from table FILE --output "
            "traces.jsonl"
        )
    return "If the results are in another field, name it with " + _RESULTS_FIELD


def warn_of_conflicting_redeliveries(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if many records differ from the one that counts in their place."""
    conflicting = Portion(inputs.count(data_counts.CONFLICTING), inputs.read)
    if not conflicting.exceeds(_MOST_CONFLICTING_SHARE):
        return
    yield DataWarning(
        codes.CONFLICTING_REDELIVERIES,
        conflicting.count,
        conflicting.share,
        f"{conflicting.of('records')} "
        + pluralize(
            conflicting.count,
            f"is not scored: {_ONE_COUNTS}, and this one differs from it.",
            f"are not scored: {_ONE_COUNTS}, and these differ from it.",
        ),
        "If they are different searches, check `turn` and `iteration`, and give each search of an "
        "iteration its own `call`, or leave `call` out; a `record_id` must be unique in its "
        "conversation. If they correct records that were sent before, ignore this.",
    )


def warn_of_unknown_fields(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn of names in records, and in the mapping, that nothing reads."""
    if inputs.seen.without_source:
        occurring = inputs.seen.call | inputs.seen.result
        names = ", ".join(
            name
            + (
                f" (did you mean {near}?)"
                if (near := find_similar_name(name, sorted(occurring)))
                else ""
            )
            for name in inputs.seen.without_source
        )
        yield DataWarning(
            codes.UNKNOWN_FIELDS,
            len(inputs.seen.without_source),
            None,
            Remedy("map") + f" names fields that none of the first records has: {names}.",
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
        unknown = [replace(name, meant=None) if name.meant == "gain" else name for name in unknown]
    if not unknown:
        return
    shown = ", ".join(
        name.path + (f" ({name.meant}?)" if name.meant else "") for name in unknown[:_SHOWN_NAMES]
    )
    more = len(unknown) - _SHOWN_NAMES
    meant: dict[str, str] = {}
    for name in unknown:
        if name.meant is not None:
            meant.setdefault(name.meant, name.name)
    remedy = "If you do not need them, ignore this."
    if meant:
        remedy = "If they are the fields named beside them, add " + Remedy("map", meant) + "."
    yield DataWarning(
        codes.UNKNOWN_FIELDS,
        len(unknown),
        None,
        f"Fields that are not read: {shown}{f', and {more:,} more' if more > 0 else ''}.",
        remedy,
    )


def warn_of_only_one_iteration(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if every conversation has one iteration."""
    results = inputs.count(data_counts.OF_ONE_ITERATION)
    if results < SOME_REPEAT or inputs.count(data_counts.REPEATABLE):
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


def warn_of_failed_calls(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if many search calls failed."""
    failed = inputs.part(data_counts.CALLS_FAILED, data_counts.CALLS)
    if not failed.exceeds(_MOST_FAILED_SHARE):
        return
    yield DataWarning(
        codes.CALLS_FAILED,
        failed.count,
        failed.share,
        f"{failed.of(pluralize(failed.total, 'search call', 'search calls'))} failed"
        f"{_describe_failed_by_tool(inputs)}.",
        "If the tool was down, repeat the conversations; to leave failed calls out of all metrics, "
        "add " + Remedy("without_failed") + ".",
    )


def _describe_failed_by_tool(inputs: CheckInputs) -> str:
    """The share of calls that failed, for the tools with most of them; "" without their names."""
    start = f"{data_counts.FAILED_BY_TOOL}."
    by_tool = {
        name.removeprefix(start): failed
        for name, failed in inputs.counts.items()
        if name.startswith(start)
    }
    shown = [
        f"{tool} {format_percent(failed / inputs.count(f'{data_counts.CALLS_BY_TOOL}.{tool}'))}"
        for tool, failed in sorted(by_tool.items(), key=lambda item: (-item[1], item[0]))
    ]
    return f": {', '.join(shown[:_SHOWN_TOOLS])}" if shown else ""


def warn_of_odd_times(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn of timestamps long ago or in the future."""
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
        f"Of {format_count(times, 'timestamp')} {' and '.join(odd)}{in_seconds}.",
        "Write timestamps as milliseconds since 1970 or as ISO 8601"
        + (": multiply seconds by 1000." if seconds else "."),
    )
