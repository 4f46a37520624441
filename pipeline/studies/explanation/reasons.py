"""Why a result is a duplicate, in words (SPEC 4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from goodgain.pipeline.studies.explanation.model import Why
from goodgain.transforms.core.dedup.duplicates import Duplicate
from goodgain.transforms.core.dedup.evidence import Evidence, have_common_value, read_evidence
from goodgain.transforms.core.dedup.normalise import normalise_url
from goodgain.transforms.core.dedup.rules import (
    CONTENT,
    GENERIC_ID,
    SNIPPET,
    UNKNOWN_FIELD,
    UNKNOWN_ID,
    Confidence,
    Need,
    RuleTable,
    TypeRules,
    digest,
    is_field,
    is_named_id,
    number_of_unknown,
)
from goodgain.transforms.core.dedup.url_rules import UrlRules
from goodgain.transforms.core.dedup.verification import Step, Verdict, verify
from goodgain.transforms.core.records.search_call import Result
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.fold import FoldedTurn

_POINTS_WITHOUT_CONTEXT = 1


class Reasons:
    """Puts the decisions about one turn into words."""

    def __init__(
        self, turn: FoldedTurn, results: Sequence[Result], details: TurnDetails, rules: RuleTable
    ) -> None:
        self._turn = turn
        self._results = results
        self._details = details
        self._rules = rules
        self._names = attribute_names(rules)
        self._read = cache(lambda index: read_evidence(turn.results[index]))
        self._occurrences: dict[int, list[int]] = {}
        for index, duplicate in enumerate(turn.duplicates):
            first = index if duplicate is None else duplicate.first
            self._occurrences.setdefault(first, []).append(index)

    def why(self, index: int) -> Why | None:
        """Why the result with this index in the turn is a duplicate; None if it is not."""
        duplicate = self._turn.duplicates[index]
        if duplicate is None:
            return None
        matched = self._find_match(index, duplicate)
        gain = self._turn.results[index].gain
        first_gain = self._turn.label_at(duplicate.first)
        return Why(
            first=self._details.place(duplicate.first),
            matched=self._details.place(matched),
            key=self._details.key(duplicate),
            step=duplicate.verdict.step.value,
            clause=duplicate.verdict.clause,
            reason=self.words(matched, index, duplicate.verdict),
            first_gain=first_gain,
            label_conflict=self._turn.rises is None
            and None not in (gain, first_gain)
            and gain != first_gain,
        )

    def _find_match(self, index: int, duplicate: Duplicate) -> int:
        """The earliest occurrence with which verification gives the recorded verdict."""
        mine = self._read(index)
        for earlier in self._occurrences[duplicate.first]:
            theirs = self._read(earlier)
            if earlier == index:
                break
            proposed = not set(mine.keys).isdisjoint(theirs.keys) or mine.values == theirs.values
            if proposed and verify(theirs, mine, self._rules) == duplicate.verdict:
                return earlier
        return duplicate.first

    def words(self, earlier: int, index: int, verdict: Verdict) -> str:
        """Why two results, by their indexes in the turn, are the same document."""
        one, other = self._read(earlier), self._read(index)
        applicable = self._rules.of_type(one.layout.type_number or other.layout.type_number)
        step, clause = verdict.step, verdict.clause
        if step is Step.IDS:
            agreeing = [
                self._names[number]
                for number in applicable.ids
                if number in applicable.definitive and agree(one, other, number)
            ]
            return f"same {' and '.join(agreeing)}, definitive for {applicable.name}"
        if step is Step.URL:
            return _same_url(self._results[earlier].url, self._results[index].url, self._rules)
        if step is Step.URL_TEXT:
            texts = [self._names[text] for text in (SNIPPET, CONTENT) if agree(one, other, text)]
            return f"URLs differ only in their query, same {' and '.join(texts)}"
        if step is Step.GENERIC_ID:
            return "same generic id, and no attribute conflicts"
        if step is Step.NAMED_ID:
            names = {**self._names, **names_of_unknown(self._results[index])}
            agreeing = [
                names[number]
                for number in other.values
                if is_named_id(number)
                and number not in self._rules.containers
                and agree(one, other, number)
            ]
            return f"same {' and '.join(agreeing)}, and no attribute conflicts"
        if step is Step.FIELDS and clause is not None:
            return self._clause(one, other, applicable, clause, index)
        return "all evidence is the same"

    def _clause(
        self, one: Evidence, other: Evidence, applicable: TypeRules, clause: int, index: int
    ) -> str:
        names = {**self._names, **names_of_unknown(self._results[index])}
        if applicable.confidence is not None:
            return _points(one, other, applicable.confidence, clause, names)
        needs = applicable.clauses[clause - 1]
        wanted = " and ".join(need_in_words(need, names) for need in needs)
        equal = dict.fromkeys(
            names[number] for need in needs for number in need.of if agree(one, other, number)
        )
        return f"{applicable.name} line {clause} ({wanted}): same {', '.join(equal)}"


def _same_url(one: str | None, other: str | None, rules: RuleTable) -> str:
    """In what the URLs of two results differ, although they name the same document."""
    one, other = (one or "").strip(), (other or "").strip()
    if one == other:
        return "same URL"
    whole = UrlRules()  # ignores no parameter and knows no other form
    mine, theirs = normalise_url(one, whole), normalise_url(other, whole)
    if mine is None or theirs is None or mine == theirs:
        return "URLs equal but for how they are written"
    names = {name for name, _ in {*mine.query} ^ {*theirs.query}}
    if (mine.host, mine.path) == (theirs.host, theirs.path) and names:
        return f"URLs equal but for {', '.join(sorted(names))}"
    resolved = normalise_url(one, rules.urls)
    place = "" if resolved is None else f": {resolved.host}{resolved.path}"
    return f"URLs that are two forms of one{place}"


def attribute_names(rules: RuleTable) -> dict[int, str]:
    """The names of the attributes that the rules know, by number."""
    names = {number: name for name, number in rules.fields.items()}
    names |= {number: f"ids.{name}" for name, number in rules.ids.items()}
    return {**names, GENERIC_ID: "id"}


def agree(one: Evidence, other: Evidence, number: int) -> bool:
    """Whether both have an attribute and its values agree."""
    mine, theirs = one.values.get(number), other.values.get(number)
    if mine is None or theirs is None:
        return False
    return mine == theirs or (is_named_id(number) and have_common_value(mine, theirs))


def need_in_words(need: Need, names: Mapping[int, str]) -> str:
    """A part of a clause, like `2 of from, to, participants`."""
    of = [names[number] for number in need.of]
    if len(of) == 1:
        return of[0]
    count = "one" if need.at_least == 1 else str(need.at_least)
    return f"{count} of {', '.join(of)}"


def _points(
    one: Evidence,
    other: Evidence,
    confidence: Confidence,
    clause: int,
    names: Mapping[int, str],
) -> str:
    worth = {
        names[number]: confidence.points.get(number, confidence.other)
        for number in one.values
        if is_field(number) and agree(one, other, number)
    }
    listed = ", ".join(f"{name} {points}" for name, points in worth.items())
    needed = f"{confidence.needed_with_context} needed as ids agree"
    if clause == _POINTS_WITHOUT_CONTEXT:
        needed = f"{confidence.needed} needed"
    return f"{sum(worth.values())} points for equal fields ({listed}), {needed}"


def names_of_unknown(result: Result) -> dict[int, str]:
    """Names in a result that the rules do not know, by the numbers assigned to them."""
    fields = {_number_of_unknown(UNKNOWN_FIELD, name): name for name in result.fields}
    return fields | {_number_of_unknown(UNKNOWN_ID, name): f"ids.{name}" for name in result.ids}


def _number_of_unknown(byte: int, name: str) -> int:
    return number_of_unknown(byte, int.from_bytes(digest(name)))
