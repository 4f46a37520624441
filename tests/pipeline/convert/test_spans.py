"""Spans become search calls: sessions, turns, iterations, costs, and each search once."""

import random

import pytest

from tests.pipeline.convert.importing import SPANS, actions, import_records, places


def span(i, s, k="", p="R", **more):
    return {"i": i, "s": s, "e": s + 1, "k": k, "p": p, **more}


def root(i="R", s=0, **more):
    return span(i, s, p=None, **more)


def docs(*names):
    return [{"id": name} for name in names]


def numbers(records):
    return [(r["turn"], r["iteration"], r["call"], r["query"]) for r in records]


class TestIterations:
    def test_parallel_calls_share_the_step_before_them(self, tmp_path):
        records, _ = import_records(
            tmp_path,
            [
                root(),
                span("a", 1, "model"),
                span("d", 3, "search", q="three"),
                span("b", 2, "search", q="one"),
                span("c", 2, "search", q="two"),  # starts with b: the span id decides
                span("e", 4, "model"),
                span("f", 5, "model"),
                span("g", 6, "search", q="four"),
            ],
        )
        assert numbers(records) == [
            (1, 1, 0, "one"),
            (1, 1, 1, "two"),
            (1, 1, 2, "three"),
            (1, 3, 0, "four"),
        ]

    def test_searches_before_any_step_are_iterations_of_their_own(self, tmp_path):
        spans = [root(), span("a", 1, "search", q="one"), span("b", 2, "search", q="two")]
        spans += [span("c", 3, "model"), span("d", 4, "search", q="three")]
        records, _ = import_records(tmp_path, spans)
        assert numbers(records) == [(1, 1, 0, "one"), (1, 2, 0, "two"), (1, 3, 0, "three")]

    def test_a_step_within_a_step_or_a_search_does_not_count(self, tmp_path):
        spans = [
            root(),
            span("a", 1, "model"),
            span("a1", 1, "model", p="a"),
            span("b", 2, "search", q="one", d=docs("x")),
            span("b1", 2, "model", p="b"),
            span("c", 3, "search", q="two"),
        ]
        records, _ = import_records(tmp_path, spans)
        assert numbers(records) == [(1, 1, 0, "one"), (1, 1, 1, "two")]


class TestSessions:
    def test_any_span_of_a_turn_may_have_the_session(self, tmp_path):
        spans = [
            root("R", 0),
            span("a", 1, p="R", c="of-agent"),
            span("b", 2, "search", p="a", q="one"),
            root("S", 0, t="U"),
            span("c", 1, "search", p="S", t="U", q="two"),
            span("d", 2, p="S", t="U", c="of-agent"),
            root("Q", 0, t="V"),
            span("e", 1, "search", p="Q", t="V", q="three"),
        ]
        records, counts = import_records(tmp_path, spans)
        assert places(records) == [
            ("V", 1, 1, 0, "three"),
            ("of-agent", 1, 1, 0, "one"),
            ("of-agent", 2, 1, 0, "two"),
        ]
        assert counts.from_trace_ids == 1

    def test_one_root_may_hold_several_sessions(self, tmp_path):
        spans = [root(), span("a", 1, c="x"), span("b", 5, c="y")]
        spans += [span("c", 2, "search", p="a", q="one"), span("d", 6, "search", p="b", q="two")]
        records, _ = import_records(tmp_path, spans)
        assert places(records) == [("x", 1, 1, 0, "one"), ("y", 1, 1, 0, "two")]

    def test_turns_are_ordered_by_their_roots(self, tmp_path):
        spans = []
        for trace, start in (("A", 30), ("B", 10), ("C", 20)):
            spans += [root("R", start, t=trace, c="s")]
            spans += [span("a", start + 1, "search", t=trace, q=trace)]
        records, _ = import_records(tmp_path, spans)
        assert numbers(records) == [(1, 1, 0, "B"), (2, 1, 0, "C"), (3, 1, 0, "A")]
        assert {record["turn_count"] for record in records} == {3}

    def test_a_last_turn_without_search_is_counted(self, tmp_path):
        spans = [root(c="s"), span("a", 1, "search", q="one"), root("R", 50, t="U", c="s")]
        records, counts = import_records(tmp_path, [*spans, root("R", 0, t="V", c="never")])
        assert [(r["turn"], r["turn_count"]) for r in records] == [(1, 2)]
        assert (counts.last_turn_without_search, counts.without_search) == (1, 1)

    def test_spans_without_their_parent_join_the_turn(self, tmp_path):
        spans = [span("a", 1, "model", p="gone"), span("b", 2, "search", p="gone too", q="one")]
        records, counts = import_records(tmp_path, [*spans, span("c", 3, "search", q="two")])
        assert numbers(records) == [(1, 1, 0, "one"), (1, 1, 1, "two")]
        assert counts.parent_missing == 3

    def test_a_cycle_of_parents_is_broken(self, tmp_path):
        spans = [span("a", 1, "search", p="b", q="one"), span("b", 2, p="a"), root()]
        records, _ = import_records(tmp_path, spans)
        assert numbers(records) == [(1, 1, 0, "one")]


class TestEachSearchOnce:
    def test_a_retriever_counts_instead_of_the_tool_around_it(self, tmp_path):
        spans = [
            root(),
            span("a", 1, "tool", n="find", q="outer", d=docs("x", "y")),
            span("b", 1.5, "search", p="a", q="inner", d=docs("x", "y")),
        ]
        records, counts = import_records(tmp_path, spans)
        assert numbers(records) == [(1, 1, 0, "inner")]
        assert counts.counted_once == 1

    def test_the_tool_counts_if_only_it_has_documents(self, tmp_path):
        spans = [
            root(),
            span("a", 1, "tool", n="find", q="outer", d=docs("x")),
            span("b", 1.5, "search", p="a", q="inner"),
        ]
        records, _ = import_records(tmp_path, spans)
        assert [(r["query"], len(r["results"])) for r in records] == [("outer", 1)]

    def test_several_retrievers_in_one_tool_are_several_calls(self, tmp_path):
        spans = [root(), span("m", 0.5, "model"), span("a", 1, "tool", n="find", d=docs("x", "y"))]
        spans += [span(i, 1.5, "search", p="a", q=i, d=docs("x")) for i in "bc"]
        records, _ = import_records(tmp_path, spans)
        assert numbers(records) == [(1, 1, 0, "b"), (1, 1, 1, "c")]

    def test_every_call_of_a_tool_that_once_returned_documents_is_a_search(self, tmp_path):
        spans = [root(), span("a", 1, "tool", n="find", d=docs("x")), root("S", 9, t="U")]
        spans += [span("b", 10, "tool", p="S", t="U", n="find"), span("c", 2, "tool", n="add")]
        records, counts = import_records(tmp_path, spans)
        assert sorted(len(r["results"]) for r in records) == [0, 1]
        assert counts.documents_not_recorded == 1
        assert actions(counts) == {"find": ("search", 2), "add": ("neither", 1)}

    def test_search_tools_can_be_named_in_the_mapping(self, tmp_path):
        spans = [root(), span("a", 1, "tool", n="find", d=docs("x")), span("b", 2, "tool", n="add")]
        records, _ = import_records(tmp_path, spans, SPANS + "search_tools: [add]")
        assert [record["tool"] for record in records] == ["add"]

    def test_a_repeated_span_counts_once(self, tmp_path):
        spans = [root(), span("a", 1, "search", q="one", d=docs("x"))]
        records, counts = import_records(tmp_path, [*spans, *spans, {**spans[1], "q": "changed"}])
        assert len(records) == 1
        assert counts.repeated == 3

    def test_a_reranking_replaces_the_searches_that_it_ranked(self, tmp_path):
        spans = [
            root(),
            span("m", 0, "model", tokens=5),
            span("a", 1, "search", q="q", d=docs("x", "y"), tokens=1),
            span("b", 1, "search", q="q", d=docs("z"), tokens=2),
            span("c", 2, "rerank", q="q", d=docs("z", "x"), tokens=4),
            span("d", 3, "search", q="other", d=docs("x"), tokens=8),
        ]
        records, counts = import_records(tmp_path, spans)
        assert [[result["id"] for result in r["results"]] for r in records] == [["z", "x"], ["x"]]
        assert [r["costs"]["tokens"] for r in records] == [12, 8]
        assert records[0]["costs"]["milliseconds"] == 4
        assert counts.counted_once == 2

    def test_a_reranking_alone_is_a_search(self, tmp_path):
        records, _ = import_records(tmp_path, [root(), span("c", 2, "rerank", q="q", d=docs("z"))])
        assert numbers(records) == [(1, 1, 0, "q")]


class TestCosts:
    def costs(self, folder, *spans):
        records, _ = import_records(folder, [root(), *spans])
        return [record["costs"] for record in records]

    def test_steps_that_did_not_search_count_for_the_next_search(self, tmp_path):
        found = self.costs(
            tmp_path,
            span("a", 1, "model", tokens=10),
            span("b", 2, "model", tokens=20),
            span("c", 3, "search"),
            span("d", 4, "model", tokens=40),
        )
        assert found == [{"milliseconds": 3, "tokens": 30}]

    def test_a_cost_that_one_step_does_not_report_is_unknown(self, tmp_path):
        found = self.costs(
            tmp_path,
            span("a", 1, "model", tokens=10),
            span("b", 2, "model"),
            span("c", 3, "search"),
            span("d", 4, "model", tokens=40),
            span("e", 5, "search"),
        )
        assert found == [{"milliseconds": 3}, {"milliseconds": 2, "tokens": 40}]

    def test_a_cost_that_only_other_searches_report_is_unknown(self, tmp_path):
        found = self.costs(tmp_path, span("a", 1, "search", usd=0.25), span("b", 2, "search"))
        assert found == [{"milliseconds": 1, "usd": 0.25}, {"milliseconds": 1}]

    @pytest.mark.parametrize("bad", [-1, "many", True, [1]])
    def test_an_invalid_cost_is_unknown(self, tmp_path, bad):
        assert self.costs(tmp_path, span("a", 1, "search", usd=bad)) == [{"milliseconds": 1}]

    def test_numbers_may_be_text(self, tmp_path):
        found = self.costs(tmp_path, span("a", 1, "search", usd="0.5"))
        assert found == [{"milliseconds": 1, "usd": 0.5}]

    def test_sums_are_exact(self, tmp_path):
        steps = [span(f"a{at}", at, "model", usd=0.1) for at in range(10)]
        assert self.costs(tmp_path, *steps, span("s", 20, "search"))[0]["usd"] == 1.0


def test_attributes_come_from_the_nearest_span(tmp_path):
    spans = [root(arm="base"), span("a", 1, arm="candidate"), span("b", 2, "search", p="a")]
    records, _ = import_records(tmp_path, spans)
    assert records[0]["attributes"] == {"arm": "candidate", "trace_id": "T", "root_span_id": "R"}


def test_a_call_that_begins_with_a_lasting_step_belongs_to_the_step_before(tmp_path):
    """Clocks of whole milliseconds let a fast call and the step after it begin together."""
    told = [
        ("m1", 0, 5, "model", 1),
        ("a", 5, 5, "search", None),
        ("m2", 5, 9, "model", 2),
        ("b", 9, 9, "search", None),
        ("m3", 10, 10, "model", 4),
        ("c", 10, 12, "search", None),
    ]
    spans = [
        {"i": name, "p": "root", "s": start, "e": end, "k": kind, "tokens": tokens, "d": []}
        for name, start, end, kind, tokens in told
    ]
    records, _ = import_records(tmp_path, [{"i": "root", "s": 0, "e": 12}, *spans])
    assert [(r["iteration"], r["costs"]["tokens"]) for r in records] == [(1, 1), (2, 2), (3, 4)]


def test_the_order_of_spans_does_not_matter(tmp_path):
    draw = random.Random(3)
    spans = []
    for trace in "ABCD":
        ids = [f"{trace}{at}" for at in range(12)]
        for at, id_ in enumerate(ids):
            kind = draw.choice(["", "search", "model", "tool", "rerank"]) if at else ""
            parent = draw.choice(ids[:at]) if at else None
            found = docs(*draw.sample("uvwxyz", 3)) if draw.random() < 0.7 else None
            spans.append(
                span(id_, draw.randrange(9), kind, parent, t=trace, d=found, q=id_, n="find")
                | {"tokens": draw.randrange(99), "c": draw.choice([None, "s1", "s2"])}
            )
    expected, counts = import_records(tmp_path, spans)
    assert len(expected) > 5
    for _ in range(20):
        draw.shuffle(spans)
        again, counts_again = import_records(tmp_path, spans)
        assert again == expected
        assert counts_again == counts


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"i": "a", "s": "soon", "k": "search"}, "a span without a readable start time"),
        ({"i": "a", "s": 1, "k": "search", "t": "", "x": 1}, None),
        (span("a", 1, "search", d=[{"gain": 7}]), "a call that no reader accepts"),
        (span("a", 1, "search", d=[{"gain": "good"}]), "a call that no reader accepts"),
    ],
)
def test_skipped_records_are_counted_by_reason(tmp_path, record, reason):
    fine = [root(), span("z", 5, "search", q="fine")]
    records, counts = import_records(tmp_path, [*fine, record])
    if reason is None:
        assert len(records) == 2
    else:
        (found,) = counts.skipped
        assert found.startswith(reason)
        assert [record["query"] for record in records] == ["fine"]
