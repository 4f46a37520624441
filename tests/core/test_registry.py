"""What the declarations of metrics say about better and worse."""

from goodgain.pipeline.comparison.measures import DECISIVE, HEADLINE, direction
from goodgain.transforms.core.scoring.registry import (
    CONVERSATION_METRICS,
    ITERATION_METRICS,
    cautions,
)

FORMS = ("{}", "{}_i", "{}_at_i")


def directions(name):
    """Of a metric at N, of iteration i and through i, as far as there are such."""
    declared = {one.name: one.direction for one in (*CONVERSATION_METRICS, *ITERATION_METRICS)}
    forms = (form.format(name) for form in FORMS)
    return {declared[form] for form in forms if form in declared}


def test_a_metric_has_one_direction_whatever_it_is_measured_on():
    stems = {metric.name for metric in CONVERSATION_METRICS}
    assert {name: found for name in stems if len(found := directions(name)) != 1} == {}


def test_more_documents_are_neither_better_nor_worse():
    assert directions("UR") == directions("R") == {"neither"}


def test_what_tells_of_labels_is_neither_better_nor_worse():
    for name in ("unlabelled", "unlabelled_i", "label_conflicts", "judged", "judged@10"):
        assert direction(name) == "neither"


def test_metrics_that_reward_stopping_or_finding_less_say_so():
    stopping = "Stopping early raises it, so read it beside CG."
    found = cautions(metric.name for metric in CONVERSATION_METRICS)
    assert found == {
        stopping: [
            "Gain per iteration (RG)",
            "Discounted gain per iteration (DRG)",
            "Gain per result (RAG)",
            "Discounted gain per result (DRAG)",
        ],
        "Finding less finishes sooner, so read it beside GR.": ["Iterations for all good results"],
    }
    (rag,) = (metric for metric in CONVERSATION_METRICS if metric.name == "RAG")
    assert rag.explained == f"{rag.meaning} {stopping}"


def test_what_finding_less_improves_decides_nothing():
    assert set(HEADLINE) - set(DECISIVE) == {"iterations_for_all_good_results"}
