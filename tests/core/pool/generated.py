"""Generated runs that share documents, to test pools."""

import copy

from tests.adversarial import ResultSource, redelivery, turn_records


def runs(random, most=3):
    """Several runs over one set of documents: records by run name.

    Conversations have the same ids in all runs. Some repeat the results of an earlier one, exactly,
    with less evidence or with other labels. Some have no topic.
    """
    source = ResultSource(random)
    names = random.sample(["A", "B", "base", "é"], random.randint(1, most))
    conversations = [f"c{number}" for number in range(random.randint(1, 3))]
    found = {}
    emitted = []
    for name in names:
        found[name] = []
        for conversation_id in conversations:
            if random.random() < 0.15:
                continue
            if emitted and random.random() < 0.4:
                records = _again(random, source, random.choice(emitted))
            else:
                records = _conversation(random, source)
            emitted.append(records)
            topic = random.choice(["t", "t", " t ", "u", "", None])
            for record in records:
                record["conversation_id"] = conversation_id
                record["attributes"] = {} if topic is None else {"topic": topic}
            found[name] += records
        random.shuffle(found[name])
    return found


def _conversation(random, source):
    turns = random.choice([1, 1, 2])
    records = []
    for turn in range(1, turns + 1):
        records += turn_records(random, source, turn, most=3)
    records += [redelivery(random, source, record) for record in records if random.random() < 0.1]
    if random.random() < 0.3:  # calls without numbers and ids
        for record in records:
            record["call"] = record["record_id"] = None
    return records


def _again(random, source, records):
    """A repeat of a conversation; some results have less evidence or other labels, some are new."""
    again = copy.deepcopy(records)
    for record in again:
        for result in record["results"] or []:
            if random.random() < 0.3:
                result["gain"] = random.choice(source.gains)
            if random.random() < 0.2:
                result["ids"] = None
            if random.random() < 0.1:
                result["url"] = None
        if record["results"] and random.random() < 0.3:
            record["results"].insert(random.randint(0, len(record["results"])), source.result())
    return again
