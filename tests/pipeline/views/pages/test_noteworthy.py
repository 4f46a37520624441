from hypothesis import given
from hypothesis import strategies as st

from goodgain.pipeline.views.noteworthy import each_once, noteworthy


def row(at, sre, srr, wasted, results):
    return {
        "conversation_id": f"c-{at:04}",
        "SRE": sre,
        "SRR": srr,
        "iterations_after_last_good": wasted,
        "R": results,
        "DupR": int(srr * results),
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
    lists = each_once(found)
    shown = [row["conversation_id"] for each in lists for row in each.rows]
    assert len(shown) == len(set(shown)) <= 3
    worst = min(all_rows, key=lists[0].key, default=None)
    if worst and lists[0].applies(worst):
        assert lists[0].rows[0] == worst
