"""Judgments of documents and topics, whatever groups them."""

from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.judgments.joining import DocumentJudgments, JoinCounts
from goodgain.transforms.core.judgments.judgment import Judgment, JudgmentPlace, judgment_digest

LINES = st.lists(
    st.tuples(st.none() | st.integers(0, 4), st.integers(0, 50)),
    min_size=1,
    unique_by=lambda line: line[1],  # a place has one judgment
)


def judge(*lines):
    document = DocumentJudgments()
    for gain, at in lines:
        document.add(Judgment("t", "d", gain, JudgmentPlace(0, at)))
    return document


@given(LINES)
def test_a_document_has_one_label_or_a_problem_that_names_the_first_places(lines):
    document = judge(*lines)
    problem = document.problem("t", "d")
    first = {}
    for gain, at in sorted(lines, key=lambda line: line[1]):
        first.setdefault(gain, at)
    if len(first) == 1:
        assert problem is None
        assert document.gain == lines[0][0]
    else:
        places = sorted(first.values())
        assert (problem.other.at, problem.place.at) == (places[0], places[1])


@given(LINES, st.randoms(use_true_random=False))
def test_the_order_of_judgments_does_not_matter(lines, random):
    again = random.sample(lines, len(lines))
    assert judge(*lines).problem("t", "d") == judge(*again).problem("t", "d")
    assert judge(*lines).places == judge(*again).places


def test_counts_of_documents_and_topics():
    counts = JoinCounts()
    counts.add_document("t", "a", judge((3, 0), (3, 5)), retrieved=True)
    counts.add_document("t", "b", judge((0, 1)), retrieved=False)
    counts.add_document("t", "c", judge((None, 2)), retrieved=True)
    counts.add_document("t", "d", judge((4, 3)), retrieved=False, excluded=True)
    counts.add_topic(judged=True, asked=True)
    counts.add_topic(judged=True, asked=False)
    counts.add_topic(judged=False, asked=True)
    counts.results_without_id += 4
    assert counts.by_name() == {
        "qrels.judgments": 2,
        "qrels.unjudged": 1,
        "qrels.similar_names": 0,
        "qrels.repeated": 1,
        "qrels.never_retrieved": 1,
        "qrels.topics": 2,
        "qrels.topics_without_conversation": 1,
        "qrels.topics_without_judgments": 1,
        "qrels.results_without_id": 4,
        "qrels.excluded": 1,
        "qrels.digest": judgment_digest("t", "a", 3) + judgment_digest("t", "b", 0),
    }


@given(st.dictionaries(st.text(max_size=2), LINES, max_size=5), st.sets(st.text(max_size=2)))
def test_documents_count_alike_together_and_one_by_one(lines, retrieved):
    documents = {name: judge(*of_document) for name, of_document in lines.items()}
    together, one_by_one = JoinCounts(), JoinCounts()
    together.add_documents("t", documents, retrieved)
    for name, judged in documents.items():
        one_by_one.add_document("t", name, judged, retrieved=name in retrieved)
    assert together == one_by_one
