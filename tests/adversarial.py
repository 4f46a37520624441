"""Seeded traces with many collisions: few documents, many spellings, all edge cases of SPEC 2 to 4.

Every record is valid. A conversation draws one or two entity types and a few documents, then emits
results as views of those documents: some attributes dropped, some spelled differently, some
replaced by another document's. A profile per conversation sets how often each group of attributes
is present, so that late steps of SPEC 4.3 decide as often as early ones.
"""

import copy
from random import Random

from tests import adversarial_values as values

TEXTS = ("title", "snippet", "content")
GROUPS = ("definitive", "container", "foreign", "generic", "url", "fields", *TEXTS)


def trace(random: Random, conversations: int) -> list[dict]:
    """Records of several conversations with distinct ids, in random order."""
    records = []
    for number in range(conversations):
        own = conversation_records(random)
        conversation_id = f"{random.choice('abc')}-{number}"
        for record in own:
            record["conversation_id"] = conversation_id
        records += own
    random.shuffle(records)
    return records


def conversation_records(random: Random) -> list[dict]:
    """The records of one conversation, redeliveries included, in random order."""
    conversation_id = f"{random.choice('ab')}-{random.randint(1, 2)}"
    source = ResultSource(random)
    turns = random.choice([1, 1, 1, 2, 3])
    records = []
    for turn in range(1, turns + 1):
        records += turn_records(random, source, turn, most=5 if turn == turns else 2)
    for record in records:
        record["conversation_id"] = conversation_id
    if random.random() < 0.05:
        random.choice(records)["turn_count"] = turns + random.choice([0, 0, 1])
    redelivered = [
        redelivery(random, source, record) for record in records if random.random() < 0.2
    ]
    records += redelivered
    random.shuffle(records)
    return records


def turn_records(random, source, turn, most):
    """Records of one turn: raw iteration numbers with gaps, one to three calls in each."""
    iterations = sorted(random.sample(range(1, 8), random.randint(1, most)))
    return [
        call_record(random, source, turn, iteration, number)
        for iteration in iterations
        for number in range(random.choice([1, 1, 2, 3]))
    ]


def call_record(random, source, turn, iteration, number):
    sizes = [0, 1, 2, 3, 4, 6]
    record = {
        "turn": turn,
        "iteration": iteration,
        "results": [source.result() for _ in range(random.choice(sizes))],
    }
    if turn == 1 and random.random() < 0.2:
        record["turn"] = None
    if random.random() < 0.7:
        record["call"] = random.choice([number, number, number, 0, None])
    if random.random() < 0.4:
        record["record_id"] = random.choice(
            ["", "  ", None, "r1", f"{turn}/{iteration}/{number}", f"{turn}/{iteration}/{number}"]
        )
    if random.random() < 0.7:
        record["timestamp"] = random.choice(values.TIMESTAMPS)
    if random.random() < 0.5:
        record["query"] = random.choice(["q1", "q2", None])
    if random.random() < 0.5:
        record["attributes"] = random.choice(values.ATTRIBUTES)
    if random.random() < 0.2:
        record["is_final"] = random.choice([True, False, None])
    if not record["results"] and random.random() < 0.5:
        record["results"] = None
    if random.random() < 0.05:
        record["action"] = random.choice(["open", "cite", "search", None])
        record["error"] = random.choice(["no network", "", None])
    if random.random() < 0.1:
        record["an_unknown_column"] = random.random()
    return record


def redelivery(random, source, record):
    """The record again: respelled but equal, or with the same identity and other content."""
    again = copy.deepcopy(record)
    if random.random() < 0.4:
        return respell(random, again)
    change = random.choice(["results", "gain", "timestamp", "query", "turn", "attributes"])
    if change == "results":
        again["results"] = [source.result()]
    elif change == "gain" and again["results"]:
        random.choice(again["results"])["gain"] = random.choice(source.gains)
    elif change == "timestamp":
        again["timestamp"] = random.choice(values.TIMESTAMPS)
    elif change == "query":
        again["query"] = "another query"
    elif change == "turn" and (again.get("record_id") or "").strip():
        again["turn"] = random.randint(1, 4)
    elif change == "attributes":
        again["attributes"] = random.choice(values.ATTRIBUTES)
    return again


def respell(random, record):
    """An equal record in another spelling: defaults written out, single values as lists."""
    for spellings in values.EQUAL_TIMESTAMPS:
        if record.get("timestamp") in spellings:
            record["timestamp"] = random.choice(spellings)
    for name in ("call", "record_id", "timestamp", "query", "tool", "turn_count", "is_final"):
        record.setdefault(name, None)
    for result in record["results"] or []:
        for name in ("id", "url", "title", "gain", "score", "reference_id"):
            result.setdefault(name, None)
        for name in ("ids", "fields"):
            result[name] = {
                key: [value] if isinstance(value, str) else value
                for key, value in (result.get(name) or {}).items()
            }
    return record


class ResultSource:
    """Results of one conversation: views of a few documents under one profile."""

    def __init__(self, random):
        self.random = random
        self.rules = random.sample(sorted(values.TYPE_SPELLINGS), random.choice([1, 1, 1, 2]))
        self.presence = self.group_presence()
        self.gains = random.choice(values.GAIN_VOCABULARIES)
        self.query_noise = random.choice([0.1, 0.7])
        self.noise = random.choice([0, 0.03, 0.1, 0.3])
        self.untyped = random.choice([0, 0, 0.2, 0.6])
        self.most_fields = random.choice([1, 2, 3, 4, 12])
        self.documents = [self.document() for _ in range(random.randint(1, 4))]
        self.emitted = []

    def group_presence(self):
        """How often each group of attributes is present; often only two groups are."""
        random = self.random
        presence = {group: random.choice([0, 0.3, 0.7, 0.95]) for group in GROUPS}
        if random.random() < 0.5:
            presence["definitive"] = 0
        if random.random() < 0.4:
            presence["url"] = 0
        if random.random() < 0.5:
            shown = random.choice([*values.FOCUSES, random.sample(GROUPS, 2)])
            presence = {group: 0.9 if group in shown else 0 for group in GROUPS}
        if random.random() < 0.3:
            presence["fields"] = 1
        return presence

    def document(self):
        """For each attribute the number of its value: one of few, so that documents collide."""
        names = {*values.FIELDS, *TEXTS, *values.ALL_IDS, "id"}
        document = {name: self.random.choice([0, 0, 1, 2]) for name in sorted(names)}
        document["url"] = self.random.choice([0, 0, 1, 2, 3, *range(len(values.URLS))])
        document["url_query"] = self.random.choice([0, 0, 1, 2, 3])
        document["length"] = self.random.choice(values.LENGTHS)
        document["rule"] = self.random.choice(self.rules)
        return document

    def result(self):
        """A view of a document, or sometimes an exact earlier result with another label."""
        if self.emitted and self.random.random() < 0.2:
            result = copy.deepcopy(self.random.choice(self.emitted))
        else:
            result = self.view(self.random.choice(self.documents))
        self.emitted.append(result)
        result["gain"] = self.random.choice(self.gains)
        if self.random.random() < 0.3:
            result["reference_id"] = f"turn1search{self.random.randint(0, 9)}"
        if self.random.random() < 0.3:
            result["score"] = self.random.choice([0.5, 1.25, 2])
        return result

    def view(self, document):
        random, rule = self.random, document["rule"]
        result = {}
        if random.random() >= self.untyped:
            result["entity_type"] = random.choice(values.TYPE_SPELLINGS[rule])
        elif random.random() < 0.5:
            result["entity_type"] = random.choice(["", "  ", None])
        result["ids"] = self.ids_of(document, rule)
        if self.shows("generic"):
            result["id"] = self.value(values.IDS, document["id"])
        if self.shows("url"):
            result["url"] = self.url_of(document)
        for name in TEXTS:
            if self.shows(name):
                result[name] = values.long_text(
                    random, name, self.number(document[name]), document["length"]
                )
        result["fields"] = self.fields_of(document, rule)
        if not result["ids"] and random.random() < 0.5:
            result["ids"] = None
        return result

    def ids_of(self, document, rule):
        definitive, container = values.DEFINITIVE_IDS[rule], values.CONTAINER_IDS.get(rule, ())
        foreign = [name for name in values.FOREIGN_IDS if name not in definitive + container]
        groups = {"definitive": definitive, "container": container, "foreign": foreign}
        return {
            name: self.list_of(values.IDS, document[name])
            for group, names in groups.items()
            for name in names
            if self.shows(group)
        }

    def fields_of(self, document, rule):
        names = [name for name in values.RULE_FIELDS[rule] if self.shows("fields")]
        names = names if self.random.random() < 0.3 else names[: self.most_fields]
        if self.random.random() < 0.2:
            names.append(self.random.choice(sorted(values.FIELDS)))
        fields = {name: self.list_of(values.FIELDS[name], document[name]) for name in names}
        if self.random.random() < 0.03:
            fields[self.random.choice(TEXTS)] = "not evidence"
        return fields

    def url_of(self, document):
        spell = values.URLS[self.number(document["url"]) % len(values.URLS)]
        if isinstance(spell, str):
            return self.random.choice([spell, f" {spell} ", spell.upper()])
        query = document["url_query"]
        if self.random.random() < self.query_noise:
            query = self.random.randrange(len(values.QUERIES))
        return values.spell_url(self.random, *spell, query)

    def shows(self, group):
        return self.random.random() < self.presence[group]

    def number(self, number):
        """The number itself, or sometimes a random one, as if it were another document's."""
        return self.random.randint(0, 2) if self.random.random() < self.noise else number

    def value(self, vocabulary, number):
        if self.random.random() < 0.03:
            return self.random.choice(["", "  ", "\t\n"])
        return self.random.choice(vocabulary[self.number(number)])

    def list_of(self, vocabulary, number):
        """One value, plain or in a list, or several values including the document's own."""
        value = self.value(vocabulary, number)
        shape = self.random.random()
        if shape < 0.75:
            return value
        if shape < 0.85:
            return [value]
        if shape < 0.88:
            return [value, ""]
        if shape < 0.9:
            return []
        other = self.random.choice(vocabulary[self.random.randint(0, 2)])
        return self.random.choice([[value, other], [other, value], [value, other, value]])
