"""The sentences at the top of a run's report."""

from goodgain.pipeline.views.pages.run import answer


def means(**values):
    return {name: {"mean": mean} for name, mean in values.items()}


def test_answer_has_the_shares_of_good_and_repeated_results_and_the_gain():
    assert answer(means(SRE=0.1694, SRR=0.2468, CG=27.63, N=3.42)) == (
        "On average 16.9 % of a conversation's results were good and new; 24.7 % repeated earlier "
        "ones. "
        "An agent gathered 27.63 units of gain in 3.420 iterations."
    )


def test_without_labels_the_gain_is_unknown():
    assert answer(means(SRE=None, SRR=0.25, CG=None, N=2.0)) == (
        "On average 25.0 % of a conversation's results repeated earlier ones. An agent searched in "
        "2.000 iterations; "
        "without labels its gain is unknown."
    )


def test_without_conversations_the_answer_says_so():
    assert answer({}) == "No conversation that searched could be evaluated."
    assert answer(means(SRR=None, N=None)) == answer({})
