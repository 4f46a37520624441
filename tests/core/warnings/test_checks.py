"""Each warning of SPEC 10: when it is given and when not, at its bounds."""

import pytest

from goodgain.transforms.core.scoring.data_counts import (
    AHEAD,
    BEFORE_1990,
    CALLS,
    CALLS_FAILED,
    CONFLICTING,
    CONFLICTS,
    CONFLICTS_BETWEEN_TEXTS,
    EARLIER_TURN,
    GOOD,
    IN_SECONDS,
    LABELLED_COPIES,
    LABELS,
    MET_AGAIN,
    OF_ONE_ITERATION,
    OUTSIDE_POOL,
    REDELIVERED,
    REPEATABLE,
    REPEATS,
    RESULTS,
    SCORED,
    SEVERAL_TOPICS,
    TIMES,
    UNIDENTIFIED,
    UNIQUE,
    UNLABELLED,
    WEAK_DOCUMENTS,
    WITHOUT_TOPIC,
)
from goodgain.transforms.core.warnings.check_inputs import (
    CheckInputs,
    ClusterSizes,
    LabelSpan,
)
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.warning import allowed_codes, failing_warnings
from tests.core.direct import shipped_rules
from tests.core.warnings.given_counts import NOTHING_ALLOWED, codes, warn


def test_good_data_give_no_warning():
    counts = {RESULTS: 100, LABELS[3]: 90, UNLABELLED: 10, UNIDENTIFIED: 10, LABELLED_COPIES: 30}
    assert codes(counts) == []
    assert codes({}) == []


def test_no_records_give_a_warning_except_in_a_window():
    assert codes({}, records=0) == ["empty_input"]
    assert codes({}, records=None) == []


@pytest.mark.parametrize(
    ("counts", "count", "share"),
    [
        ({RESULTS: 100, LABELS[2]: 60, UNLABELLED: 40}, 40, 0.4),
        ({RESULTS: 100, LABELS[1]: 60, UNLABELLED: 10}, 90, 1.0),
        ({RESULTS: 100, LABELS[2]: 100, UNIDENTIFIED: 50}, 50, 0.5),
        ({TIMES: 10, BEFORE_1990: 1, AHEAD: 2}, 3, 0.3),
        ({"labels.read": 8, "labels.rejected": 2}, 2, 0.25),
        ({RESULTS: 10, LABELS[3]: 10, MET_AGAIN: 1}, 1, 0.1),
        ({UNIQUE: 4, WEAK_DOCUMENTS: 1}, 1, 0.25),
    ],
)
def test_count_and_share_of_a_warning(counts, count, share):
    (one,) = warn(counts, clock=1_700_000_000_000)
    assert (one.count, one.share) == (count, pytest.approx(share))


def test_the_most_serious_warnings_come_first():
    counts = {RESULTS: 30, LABELS[1]: 20, UNLABELLED: 10, UNIDENTIFIED: 30, TIMES: 1, AHEAD: 1}
    found = codes(counts, [{"results": [{"colour": 1}]}])
    expected = ["labels_below_threshold", "few_labels", "unknown_fields", "no_identity"]
    assert found == [*expected, "odd_times"]


def test_warnings_of_a_window_name_no_option_of_run():
    for counts in ({RESULTS: 5, UNLABELLED: 5}, {RESULTS: 5, LABELS[1]: 5}):
        (of_run,) = warn(counts)
        (of_window,) = warn(counts, records=None)
        assert "accepts it" in of_run.remedy
        assert "--allow" not in of_window.remedy


@pytest.mark.parametrize(("unidentified", "expected"), [(10, []), (11, ["no_identity"])])
def test_no_identity_warns_above_10_percent(unidentified, expected):
    assert codes({RESULTS: 100, LABELS[2]: 100, UNIDENTIFIED: unidentified}) == expected


def test_no_identity_suggests_lines_for_the_rules_file():
    results = [
        {"entity_type": "File", "ids": {"chunk_id": "a", "site_id": "s"}, "fields": {"page": "1"}},
        {"entity_type": "Email", "ids": [["chunk_id", "b"]]},
        {"entity_type": "Wiki", "ids": {"own_id": "b"}},
    ]
    counts = {RESULTS: 100, LABELS[2]: 100, UNIDENTIFIED: 100}
    (one,) = warn(counts, [{"results": results}])
    assert "Ids and fields that no rule uses: ids.chunk_id, fields.page." in one.message
    assert "EmailMessage: {definitive: [email_url, chunk_id]}; " in one.remedy
    assert "File: {definitive: [file_id, unique_id, chunk_id]}." in one.remedy
    (nameless,) = warn(counts)
    assert "goodgain validate" in nameless.remedy


@pytest.mark.parametrize(
    ("counts", "message_part"),
    [
        ({RESULTS: 1, UNLABELLED: 1}, "The only result of the scored turns has no label, so"),
        (
            {RESULTS: 4, LABELS[3]: 3, UNLABELLED: 1},
            "1 of 4 results (25.0 %) has no label and counts",
        ),
        ({RESULTS: 1, LABELS[1]: 1}, "1 result has a label, but none reaches the good gain"),
        (
            {RESULTS: 5, LABELS[3]: 5, UNIDENTIFIED: 1},
            "1 of 5 results (20.0 %) has no id that counts",
        ),
        ({TIMES: 1, BEFORE_1990: 1, IN_SECONDS: 1}, "Of 1 timestamp 1 lies before 1990; 1 of them"),
        (
            {LABELLED_COPIES: 3, CONFLICTS: 1},
            "1 of 3 labelled copies (33.3 %) has another label than the first",
        ),
        (
            {RESULTS: 3, LABELS[3]: 3, MET_AGAIN: 1},
            "1 document stays unjudged because the judgments",
        ),
        ({GOOD: 3, OUTSIDE_POOL: 1}, "1 of 3 good documents (33.3 %) has no label in the pool: it"),
        ({UNIQUE: 3, WEAK_DOCUMENTS: 1}, "1 of 3 documents (33.3 %) has too few attributes"),
        (
            {"labels.read": 3, "labels.rejected": 1},
            "1 of 3 labels of --labels (33.3 %) was not used",
        ),
    ],
)
def test_messages_about_one_are_singular(counts, message_part):
    assert [warning.message for warning in warn(counts) if warning.message.startswith(message_part)]


def test_no_duplicates_warns_from_1000_repeatable_results():
    few = {RESULTS: 2_000, LABELS[2]: 2_000, REPEATABLE: 999}
    assert codes(few) == []
    assert codes({**few, REPEATABLE: 1_000}) == ["no_duplicates"]
    assert codes({**few, REPEATABLE: 1_000, REPEATS: 1}) == []


def test_only_one_iteration_warns_from_1000_results():
    assert codes({OF_ONE_ITERATION: 999}) == []
    assert codes({OF_ONE_ITERATION: 1_000, REPEATABLE: 1, REPEATS: 1}) == []
    (one,) = warn({OF_ONE_ITERATION: 1_000})
    assert (one.code, one.count, one.share) == ("only_one_iteration", 1_000, 1.0)
    assert one.message.startswith("All 1,000 results are of conversations with one iteration, ")


def test_clusters_of_very_different_size_give_a_warning():
    (one,) = warn({}, clusters=ClusterSizes(21, 2.2))
    assert (one.code, one.count, one.share) == ("few_effective_clusters", 21, None)
    assert "The 21 clusters differ so much in size that they weigh like 2.2 of" in one.message
    assert one.remedy == (
        "Take more clusters, or clusters of more equal size; `goodgain compare --pair-by "
        "ATTRIBUTE`, with the attribute of --cluster, gives each the same weight."
    )
    assert codes({}, clusters=ClusterSizes(5, 5.0)) == []


def test_odd_times_warns_before_1990_and_after_the_clock():
    (early,) = warn({TIMES: 10, BEFORE_1990: 2, IN_SECONDS: 1})
    assert (early.code, early.count, early.share) == ("odd_times", 2, 0.2)
    assert "1 of them looks like seconds" in early.message
    assert "multiply seconds by 1000" in early.remedy
    (late,) = warn({TIMES: 10, AHEAD: 1}, clock=1_700_000_000_000)
    assert "2023-11-14" in late.message


def test_label_conflicts_warns_above_10_percent():
    assert codes({LABELLED_COPIES: 10, CONFLICTS: 1}) == []
    (one,) = warn({LABELLED_COPIES: 10, CONFLICTS: 2})
    assert (one.code, one.count, one.share) == ("label_conflicts", 2, 0.2)
    assert "whose label counts" in one.message


def test_label_conflicts_say_which_label_counts():
    """Above the labels of a trace stand those of judgments and of a pool (SPEC 5)."""
    (pooled,) = warn({LABELLED_COPIES: 10, CONFLICTS: 2}, pooled=True)
    assert pooled.message == (
        "2 of 10 labelled copies (20.0 %) have another label in the traces than the first "
        "occurrence of their document. The label in the pool counts; only where the pool has none, "
        "that of the first occurrence does."
    )
    (judged,) = warn({LABELLED_COPIES: 10, CONFLICTS: 2}, external=True)
    assert judged.message == (
        "2 of 10 labelled copies (20.0 %) have another judgment than that of their document, which "
        "counts."
    )
    assert "--qrels" not in pooled.remedy + judged.remedy


OF_PASSAGES = {LABELLED_COPIES: 50, CONFLICTS: 6, CONFLICTS_BETWEEN_TEXTS: 4}


def test_labels_of_passages_warns_instead_of_label_conflicts():
    (one,) = warn(OF_PASSAGES)
    assert (one.code, one.count, one.share) == ("labels_of_passages", 6, 0.12)
    assert "and 4 of them another text" in one.message
    assert "--document-label best" in one.remedy
    assert "--unit passage" in one.remedy


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({LABELLED_COPIES: 49}, ["label_conflicts"]),
        ({CONFLICTS: 5}, []),
        ({CONFLICTS_BETWEEN_TEXTS: 3}, ["label_conflicts"]),
    ],
)
def test_few_copies_conflicts_or_texts_say_nothing_of_passages(changed, found):
    assert codes({**OF_PASSAGES, **changed}) == found


def test_labels_of_passages_says_nothing_where_another_label_counts():
    assert codes(OF_PASSAGES, document_label="best") == []
    assert codes(OF_PASSAGES, external=True) == ["label_conflicts"]
    assert codes(OF_PASSAGES, pooled=True) == ["label_conflicts"]


def test_conflicting_redeliveries_warn_above_1_percent_of_the_records():
    assert codes({CONFLICTING: 1}, records=100) == []
    (one,) = warn({CONFLICTING: 2}, records=100)
    assert (one.code, one.count, one.share) == ("conflicting_redeliveries", 2, 0.02)
    assert one.message.startswith("2 of 100 records (2.0 %) are not scored: ")
    assert all(name in one.remedy for name in ("`call`", "`record_id`", "`turn`", "`iteration`"))


def test_conflicting_redeliveries_of_a_window_are_a_share_of_its_records():
    counts = {CONFLICTING: 2, SCORED: 100, EARLIER_TURN: 50, REDELIVERED: 50}
    assert codes(counts, records=None) == []
    (one,) = warn({**counts, CONFLICTING: 3}, records=None)
    assert (one.count, one.share) == (3, 0.015)
    assert "3 of 200 records" in one.message


def test_failed_calls_warn_above_5_percent_with_the_tools_that_fail():
    counts = {CALLS: 100, CALLS_FAILED: 5}
    assert codes(counts) == []
    by_tool = {
        "calls_by_tool.web": 90,
        "calls_by_tool.a.b": 5,
        "failed_calls_by_tool.web": 1,
        "failed_calls_by_tool.a.b": 5,
    }
    (one,) = warn({**counts, CALLS_FAILED: 6, **by_tool})
    assert (one.code, one.count, one.share) == ("calls_failed", 6, 0.06)
    assert one.message == "6 of 100 search calls (6.0 %) failed: a.b 100.0 %, web 1.1 %."
    assert "without_failed" in one.remedy.replace("-", "_")


def test_any_conversation_without_the_attribute_of_the_topic_gives_a_warning():
    counts = {WITHOUT_TOPIC: 1, "conversations.total": 1_000}
    (one,) = warn(counts, topic_attribute="query_id")
    assert (one.code, one.count, one.share) == ("conversations_without_topic", 1, 0.001)
    assert one.message == (
        "1 of 1,000 conversations (0.1 %) has no attribute query_id, so no judgment labels its "
        "results: gains and recall can be too low."
    )
    counts = {WITHOUT_TOPIC: 12, "conversations.total": 360}
    (several,) = warn(counts, topic_attribute="query_id")
    assert several.message == (
        "12 of 360 conversations (3.3 %) have no attribute query_id, so no judgment labels their "
        "results: gains and recall can be too low."
    )
    assert "every conversation" in several.remedy


def test_any_conversation_with_several_topics_gives_a_warning():
    counts = {SEVERAL_TOPICS: 1, "conversations.total": 4}
    (one,) = warn(counts, topic_attribute="query_id")
    assert (one.code, one.count, one.share) == ("conversations_with_several_topics", 1, 0.25)
    assert (
        "1 of 4 conversations (25.0 %) has several values of the attribute query_id" in one.message
    )


def test_which_warnings_change_the_exit_code():
    counts = {RESULTS: 29, LABELS[1]: 29}
    assert failing_warnings(warn(counts), NOTHING_ALLOWED) == []
    more = warn({RESULTS: 30, LABELS[1]: 30})
    assert failing_warnings(more, NOTHING_ALLOWED) == more
    assert (
        failing_warnings(
            more, allowed_codes(unlabelled=False, no_good=True, contradicted_ids=False)
        )
        == []
    )
    bare = warn({RESULTS: 1, UNLABELLED: 1})
    assert failing_warnings(bare, NOTHING_ALLOWED) == bare
    assert (
        failing_warnings(
            bare, allowed_codes(unlabelled=True, no_good=False, contradicted_ids=False)
        )
        == []
    )
    empty = warn({}, records=0)
    assert (
        failing_warnings(
            empty, allowed_codes(unlabelled=True, no_good=True, contradicted_ids=False)
        )
        == empty
    )
    many = warn({RESULTS: 100, LABELS[2]: 100, UNIDENTIFIED: 50, TIMES: 1, BEFORE_1990: 1})
    assert failing_warnings(many, NOTHING_ALLOWED) == []


def warnings_of_spans(documents, apart):
    spans = {"doc_id": LabelSpan(documents, apart)}
    return warnings_of(CheckInputs({}, 2, shipped_rules(), label_spans=spans))


@pytest.mark.parametrize(("documents", "apart", "warns"), [(20, 2, 1), (20, 1, 0), (19, 19, 0)])
def test_votes_far_apart_under_one_id_give_a_warning(documents, apart, warns):
    found = warnings_of_spans(documents, apart)
    assert [(warning.count, warning.share) for warning in found] == [
        (apart, apart / documents)
    ] * warns
    assert all(
        "the id doc_id have labels 2 or more grades apart" in warning.message for warning in found
    )
