"""Directions (higher or lower is better) and cautions that metrics declare."""

from goodgain.transforms.core.metrics.by_name import describe_cautions, metric_by_name
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS, DECLARED
from goodgain.transforms.core.metrics.headline import headline_among
from goodgain.transforms.core.metrics.iteration_gains import GAINS

FORMS = ("{}", "{}_i", "{}_at_i")


def directions(name):
    """Directions of a metric's declared forms: at N, of iteration i, and through i."""
    declared = {metric.name: metric.direction for metric in (*CONVERSATION_METRICS, *GAINS.by_i)}
    forms = (form.format(name) for form in FORMS)
    return {declared[form] for form in forms if form in declared}


def test_all_forms_of_a_metric_have_the_same_direction():
    stems = {metric.name for metric in CONVERSATION_METRICS}
    assert {name: found for name in stems if len(found := directions(name)) != 1} == {}


def test_numbers_of_results_are_neither_better_nor_worse():
    assert directions("UR") == directions("R") == {"neither"}


def test_metrics_about_labels_are_neither_better_nor_worse():
    for name in ("unlabelled", "unlabelled_i", "label_conflicts", "judged", "judged@10"):
        assert metric_by_name(name).direction == "neither"


def test_metrics_that_reward_stopping_or_finding_less_have_a_caution():
    stopping = "Stopping early raises it, so read it beside CG."
    assert describe_cautions(metric.name for metric in CONVERSATION_METRICS) == [
        "Gain per iteration (RG), Discounted gain per iteration (DRG), Gain per result (RAG), "
        f"Discounted gain per result (DRAG): {stopping}",
        "Iterations for all good results: Finding less finishes sooner, so read it beside GR.",
        "Iterations after the last good: Giving up at once lowers it, so read it beside CG.",
    ]
    (rag,) = (metric for metric in CONVERSATION_METRICS if metric.name == "RAG")
    assert rag.explained == f"{rag.meaning} {stopping}"


def test_metrics_that_improve_by_finding_less_are_not_decisive():
    compared, decisive = (headline_among(place, DECLARED) for place in ("comparison", "decision"))
    assert set(compared) - set(decisive) == {
        "iterations_for_all_good_results",
        "iterations_after_last_good",
    }
