"""Whether two occurrences are the same document, by SPEC 4.3 step by step."""

from dataclasses import dataclass

from tests.reference.rules import (
    CONTAINER_IDS,
    IDENTITY_PARAMETERS,
    PASSAGE_IDS,
    POINTS,
    POINTS_OF_OTHER_FIELDS,
    RULES,
    rule_name_of,
)


@dataclass(frozen=True)
class Verdict:
    """The outcome for a pair: the rules that applied, and the step (and clause) that decided."""

    duplicate: bool
    rule: str
    step: str
    clause: int | None = None


class Pair:
    """Compares the evidence of two occurrences."""

    def __init__(self, one, other):
        self.one = one
        self.other = other

    def comparable_ids(self):
        return set(self.one.ids) & set(self.other.ids)

    def id_agrees(self, name):
        return bool(self.one.ids.get(name, set()) & self.other.ids.get(name, set()))

    def comparable_fields(self):
        return set(self.one.fields) & set(self.other.fields)

    def field_agrees(self, name):
        return name in self.comparable_fields() and self.one.fields[name] == self.other.fields[name]

    def field_differs(self, name):
        return name in self.comparable_fields() and self.one.fields[name] != self.other.fields[name]

    def agrees(self, name):
        """Whether a name of the rules table agrees: "id:NAME" is a named id, else a field."""
        if name.startswith("id:"):
            return self.id_agrees(name.removeprefix("id:"))
        return self.field_agrees(name)

    def generic_ids_equal(self):
        return self.one.generic_id is not None and self.one.generic_id == self.other.generic_id

    def urls_comparable(self):
        return self.one.url is not None and self.other.url is not None


def verify(one, other, unit="document"):
    """The verdict on two pieces of evidence (SPEC 4.3, 4.4)."""
    pair = Pair(one, other)
    if one.type is not None and other.type is not None and one.type != other.type:
        return Verdict(False, rule_name_of(one.type), "type")
    rule = rule_name_of(one.type if one.type is not None else other.type)
    if unit == "passage" and are_two_passages(pair):
        return Verdict(False, rule, "passage")
    decided = (
        by_ids(pair, rule)
        or by_url(pair, rule)
        or by_fields(pair, rule)
        or by_generic_id(pair, rule)
        or by_named_id(pair, rule)
        or by_identity(pair, rule)
    )
    return decided or Verdict(False, rule, "inconclusive")


def are_two_passages(pair):
    """SPEC 4.4."""
    if any(name in pair.comparable_ids() and not pair.id_agrees(name) for name in PASSAGE_IDS):
        return True
    text = "content" if "content" in pair.comparable_fields() else "snippet"
    return pair.field_differs(text)


def by_ids(pair, rule):
    """Step 1."""
    definitive = [name for name in RULES[rule]["definitive"] if name in pair.comparable_ids()]
    container = [name for name in RULES[rule]["container"] if name in pair.comparable_ids()]
    if any(not pair.id_agrees(name) for name in definitive + container):
        return Verdict(False, rule, "ids")
    return Verdict(True, rule, "ids") if definitive else None


def by_url(pair, rule):
    """Step 2."""
    if not pair.urls_comparable():
        return None
    if pair.one.url == pair.other.url:
        return Verdict(True, rule, "url")
    if pair.one.url[:2] != pair.other.url[:2]:
        return Verdict(False, rule, "url")
    for name in IDENTITY_PARAMETERS:
        ours = parameter_values(pair.one.url, name)
        theirs = parameter_values(pair.other.url, name)
        if ours and theirs and ours != theirs:
            return Verdict(False, rule, "url_identity")
    if pair.field_differs("snippet") or pair.field_differs("content"):
        return Verdict(False, rule, "url_text")
    if pair.field_agrees("snippet") or pair.field_agrees("content"):
        return Verdict(True, rule, "url_text")
    return None


def parameter_values(url, name):
    return {value for pair_name, value in url[2] if pair_name == name}


def by_fields(pair, rule):
    """Step 3."""
    reject_on = pair.comparable_fields() if rule == "default" else RULES[rule]["reject_on"]
    if any(pair.field_differs(name) for name in reject_on):
        return Verdict(False, rule, "fields")
    clause = default_clause(pair) if rule == "default" else table_clause(pair, rule)
    return None if clause is None else Verdict(True, rule, "fields", clause)


def table_clause(pair, rule):
    """The 1-based number of the first "duplicate if" line that holds, or None."""
    for number, line in enumerate(RULES[rule]["duplicate_if"], start=1):
        if all(sum(map(pair.agrees, names)) >= least for least, names in line):
            return number
    return None


def default_clause(pair):
    """1 for at least 4 points, 2 for at least 2 in an id context, else None."""
    points = sum(
        POINTS.get(name, POINTS_OF_OTHER_FIELDS)
        for name in pair.comparable_fields()
        if pair.field_agrees(name)
    )
    if points >= 4:
        return 1
    return 2 if points >= 2 and has_id_context(pair) else None


def has_id_context(pair):
    return (
        pair.generic_ids_equal()
        or some_named_id_agrees(pair)
        or (pair.urls_comparable() and pair.one.url[:2] == pair.other.url[:2])
    )


def some_named_id_agrees(pair):
    agreeing = {name for name in pair.comparable_ids() if pair.id_agrees(name)}
    return bool(agreeing - CONTAINER_IDS)


def by_generic_id(pair, rule):
    """Step 4, the first sentence up to its "or"."""
    if pair.generic_ids_equal() and nothing_contradicts(pair):
        return Verdict(True, rule, "generic_id")
    return None


def by_named_id(pair, rule):
    """Step 4, the rest of the first sentence."""
    if rule == "default" and some_named_id_agrees(pair) and nothing_contradicts(pair):
        return Verdict(True, rule, "named_id")
    return None


def nothing_contradicts(pair):
    """Whether URLs are not comparable and no comparable attribute differs."""
    return (
        not pair.urls_comparable()
        and all(pair.id_agrees(name) for name in pair.comparable_ids())
        and not any(pair.field_differs(name) for name in pair.comparable_fields())
    )


def by_identity(pair, rule):
    """Step 4, the second sentence."""
    if pair.one == pair.other and pair.one.attribute_count() >= 2:
        return Verdict(True, rule, "identical")
    return None
