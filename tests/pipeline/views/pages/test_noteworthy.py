from hypothesis import given
from hypothesis import strategies as st

from goodgain.pipeline.results.unlabelled_arms import NO_LABEL
from goodgain.pipeline.views.noteworthy import (
    deal_out,
    highlights_part,
    keep_known_lists,
    noteworthy,
)


def row(at, sre, srr, wasted, results):
    return {
        "conversation_id": f"c-{at:04}",
        "SRE": sre,
        "SRR": srr,
        "iterations_after_last_good": wasted,
        "R": results,
        "DupR": int(srr * results),
        "GR": int(sre * results),
    }


share = st.sampled_from([0.0, 0.25, 0.5, 1.0])
rows = st.lists(st.tuples(share, share, st.integers(0, 3), st.integers(1, 4)), max_size=3_000)


@given(rows, st.randoms(use_true_random=False))
def test_noteworthy_conversations_do_not_depend_on_the_order_of_conversations(drawn, random):
    all_rows = [row(at, *values) for at, values in enumerate(drawn)]
    shuffled = random.sample(all_rows, len(all_rows))
    for listed in noteworthy():
        for conversation in shuffled:
            listed.add(conversation)
        expected = sorted(filter(listed.applies, all_rows), key=listed.key)[:3]
        assert listed.rows == expected


def test_conversations_without_problems_are_not_listed():
    perfect = row(1, 1.0, 0.0, 0, 5)
    for listed in noteworthy():
        listed.add(perfect)
        assert listed.rows == []


@given(rows)
def test_no_conversation_is_shown_twice_and_few_are(drawn):
    all_rows = [row(at, *values) for at, values in enumerate(drawn)]
    found = noteworthy()
    for listed in found:
        for conversation in all_rows:
            listed.add(conversation)
    lists = deal_out(found)
    shown = [row["conversation_id"] for each in lists for row in each.rows]
    worth = [each for each in all_rows if any(listed.applies(each) for listed in lists)]
    assert len(shown) == len(set(shown)) == min(3, len(worth))
    worst = min(all_rows, key=lists[0].key, default=None)
    if worst and lists[0].applies(worst):
        assert lists[0].rows[0] == worst


def told(all_rows, unknown=()):
    """What the end of a run says of some conversations."""
    means = {
        name: {"mean": None, "note": NO_LABEL} if name in unknown else {"mean": 1.0, "note": None}
        for name in ("SRE", "SRR", "iterations_after_last_good")
    }
    lists = keep_known_lists(noteworthy(), means)
    for listed in lists:
        for conversation in all_rows:
            listed.add(conversation)
    part = highlights_part(deal_out(lists), len(all_rows), {}, {"input": ["t.avro"]})
    return [sentence.text for sentence in part]


def test_three_conversations_are_told_if_one_measure_alone_finds_them():
    opening, *lines = told([row(at, 0.5, 0.0, 0, 4) for at in range(5)])
    assert opening == "Worth looking at:"
    assert lines == [
        line
        for at in range(3)
        for line in (
            "only 50.0 % of its results were good and new",
            f"goodgain explain c-000{at} --input t.avro",
        )
    ]


def test_without_labels_only_repetition_counts():
    repeating = [row(at, 0.0, 0.5, 1, 4) for at in range(2)]
    ordinary = [row(at, 0.0, 0.0, 1, 4) for at in range(2, 5)]
    unknown = ("SRE", "iterations_after_last_good")
    opening, *lines = told([*repeating, *ordinary], unknown)
    assert opening == "Worth looking at (the others found only new results):"
    assert lines[::2] == ["50.0 % of its results repeated earlier ones"] * 2
    assert told(repeating, unknown)[0] == "Worth looking at:"
    assert told(ordinary, unknown) == [
        "Worth looking at: no conversation, since all found only new results."
    ]


def test_a_conversation_that_found_nothing_is_said_to_have_found_nothing():
    _, empty, _, wasted, _ = told([row(1, 0.0, 0.0, 3, 0), row(2, 0.0, 0.0, 2, 4)])
    # Of two without anything good, that with results comes first by efficiency.
    assert empty == "only 0 % of its results were good and new"
    assert wasted == "iterations that it searched without finding a good document: 3"
    _, nothing, _ = told([row(1, 0.0, 0.0, 0, 0)])
    assert nothing == "it found nothing: no search returned a result"
