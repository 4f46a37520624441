"""Why two results are one document or two: each step, and what it compared (SPEC 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from goodgain.pipeline.studies.explanation.model import NearMiss
from goodgain.pipeline.studies.explanation.pair_attributes import TYPE, attributes_of, texts_of
from goodgain.pipeline.studies.explanation.pair_model import (
    ComparedAttribute,
    PairExplanation,
    StepDecision,
)
from goodgain.pipeline.studies.explanation.reasons import (
    Reasons,
    agree,
    names_of_unknown,
    need_in_words,
)
from goodgain.transforms.core.dedup.duplicates import Duplicate
from goodgain.transforms.core.dedup.keys import EQUAL_EVIDENCE
from goodgain.transforms.core.dedup.rules import URL, URL_QUERY, TypeRules
from goodgain.transforms.core.dedup.verification import Step, Verdict, list_decisions, verify
from goodgain.transforms.core.errors import UsageError

_MOST_NEAR_MISSES = 20


class Pairs(Reasons):
    """Compares results of one turn pair by pair, and puts what decides into words."""

    def near_misses(self) -> list[NearMiss]:
        """The first pairs that share a key but are two documents."""
        found: list[NearMiss] = []
        for near_miss in self._find_near_misses():
            found.append(near_miss)
            if len(found) == _MOST_NEAR_MISSES:
                break
        return found

    def _find_near_misses(self) -> Iterator[NearMiss]:
        by_key: dict[int, list[int]] = {}
        seen: set[tuple[bytes, bytes]] = set()
        for index, result in enumerate(self._turn.results):
            evidence = self._read(index)
            if (result.codes, result.digests) in seen:
                continue
            seen.add((result.codes, result.digests))
            earlier = sorted({at for key in evidence.keys for at in by_key.get(key, ())})
            for at in earlier:
                verdict = verify(self._read(at), evidence, self._rules)
                if verdict.duplicate:
                    break
                yield NearMiss(
                    self._details.place(index),
                    self._details.place(at),
                    self._name_shared_keys(at, index)[0],
                    verdict.step.value,
                )
            for key in dict.fromkeys(evidence.keys):
                by_key.setdefault(key, []).append(index)

    def explain(self, first: str, second: str) -> PairExplanation:
        """Why two results are one document or two.

        Args:
          first, second: their places, like `1.1.3`: i, call and rank, each from 1.

        Raises:
          UsageError: there is no result at a place, or both are the same.
        """
        earlier, later = sorted(map(self._index, (first, second)))
        if earlier == later:
            raise UsageError(f"Both results are {first}: give two.")
        one, other = self._read(earlier), self._read(later)
        verdict = verify(one, other, self._rules)
        said = list_decisions(one, other, self._rules)
        decided = [at for at, (_, decision) in enumerate(said) if decision is not None]
        applicable = self._rules.of_type(one.layout.type_number or other.layout.type_number)
        duplicate = self._turn.duplicates[later]
        return PairExplanation(
            first=self._details.place(earlier),
            second=self._details.place(later),
            rules=applicable.name,
            keys=self._name_shared_keys(earlier, later),
            same=verdict.duplicate,
            decided_by=decided[0] if decided else None,
            steps=[
                self._decision(earlier, later, applicable, step, decision)
                for step, decision in said
            ],
            copy_of=None if duplicate is None else self._details.place(duplicate.first),
        )

    def _index(self, place: str) -> int:
        for index in range(len(self._turn.results)):
            if place == self._details.place(index).text:
                return index
        raise UsageError(
            f"There is no result {place} in the last turn; a place is i, call and rank, like 1.1.3."
        )

    def _name_shared_keys(self, earlier: int, later: int) -> list[str]:
        """The names of the keys that two results share; those of equal evidence have one."""
        one, other = self._read(earlier), self._read(later)
        shared = set(one.keys)
        named = zip(other.layout.key_attributes, other.keys, strict=True)
        attributes = dict.fromkeys(attribute for attribute, key in named if key in shared)
        if not attributes and one.values == other.values and other.layout.identifies_alone:
            attributes = {EQUAL_EVIDENCE: None}
        nothing = Verdict(False, Step.INCONCLUSIVE)
        return [
            self._details.key(Duplicate(earlier, (attribute,), nothing)) for attribute in attributes
        ]

    def _decision(
        self, earlier: int, later: int, applicable: TypeRules, step: Step, said: Verdict | None
    ) -> StepDecision:
        one, other = self._read(earlier), self._read(later)
        compared = self._compare(
            earlier, later, attributes_of(step, one, other, applicable, self._rules)
        )
        if step is Step.TYPE:
            mine, theirs = map(self._details.entity_type, (earlier, later))
            agrees = None if None in (mine, theirs) else said is None
            if mine or theirs:
                compared = [ComparedAttribute(TYPE, mine, theirs, agrees)]
        reason = ""
        if said is not None and said.duplicate:
            reason = self.words(earlier, later, said)
        elif said is not None:
            differing = [field.name for field in compared if field.agrees is False]
            reason = f"different {' and '.join(differing)}"
        return StepDecision(
            step=step.value,
            compared=compared,
            same=None if said is None else said.duplicate,
            reason=reason,
            needs=self._needs(applicable) if step is Step.FIELDS else [],
        )

    def _needs(self, applicable: TypeRules) -> list[str]:
        """What the rules of a type need of fields, line by line."""
        if applicable.confidence is not None:
            points = applicable.confidence
            worth = {self._names[number]: value for number, value in points.points.items()}
            listed = ", ".join(f"{name} {value}" for name, value in worth.items())
            return [
                f"{points.needed} points for equal fields ({listed}, others {points.other}), "
                f"{points.needed_with_context} if an id agrees"
            ]
        return [
            " and ".join(need_in_words(need, self._names) for need in clause)
            for clause in applicable.clauses
        ]

    def _compare(
        self, earlier: int, later: int, attributes: Iterable[int]
    ) -> list[ComparedAttribute]:
        one, other = self._read(earlier), self._read(later)
        mine, theirs = (texts_of(self._results[index], self._rules) for index in (earlier, later))
        names = {
            **self._names,
            **names_of_unknown(self._results[earlier]),
            **names_of_unknown(self._results[later]),
            **{number: f"url?{name}" for name, number in self._rules.url_parameters.items()},
            URL: "url",
            URL_QUERY: "query of the url",
        }
        return [
            ComparedAttribute(
                names[number],
                mine.get(number, "") if number in one.values else None,
                theirs.get(number, "") if number in other.values else None,
                agree(one, other, number)
                if number in one.values and number in other.values
                else None,
            )
            for number in dict.fromkeys(attributes)
            if number in one.values or number in other.values
        ]
