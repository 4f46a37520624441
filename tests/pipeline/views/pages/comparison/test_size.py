"""The report of a comparison stays small with many slices, iterations and pairs."""

import msgspec
import pytest

from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.views.comparison_tables import all_columns
from goodgain.pipeline.views.pages.data.comparison_pairs import pairs_by_metric
from goodgain.pipeline.views.pages.data.comparison_slices import arrange, slice_data
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.headline import headline
from goodgain.transforms.core.metrics.iteration_gains import GAINS

BYTES_FOR_DATA = 2_500_000
NUMBERS = dict.fromkeys(ComparisonRow.__struct_fields__, 1234.56789) | {
    "p_holm": 0.01234,
    "stderr": 0.1,
    "verdict_ci_low": -1234.56789,
    "verdict_ci_high": 1234.56789,
    "reason": None,
}
NAMES_OF_COUNTS = (
    "only_in_base", "only_in_candidate",
    "undefined_in_base", "undefined_in_candidate", "undefined_in_both",
)  # fmt: skip
OTHERS = {
    "direction": "higher",
    "own_ideal": False,
    "family": "declared",
    "effect_size_name": "cohen_dz",
    "clusters": None,
    "bootstrap_resamples": None,
    "note": None,
    **dict.fromkeys(NAMES_OF_COUNTS, 0),
}
COUNTS = {"n_base": 100_000, "n_candidate": 100_000, "good": 1, "same": 2, "bad": 3}


def differences(count, metrics):
    for name in metrics:
        for at in range(count):
            yield {
                "key": f"conversation-{at:08}-{'x' * 40}",
                "metric": name,
                "base": at + 0.123456,
                "candidate": 1.0,
                "difference": float((at * 7919) % count) + 0.123456,
            }


def rows(slices, iterations):
    for at in range(slices + 1):
        slice_ = {"user": f"u-{at:05}"} if at else {}
        common = {
            **NUMBERS,
            **OTHERS,
            **COUNTS,
            "slice": slice_,
            "verdict": "not shown",
            "design": "paired",
        }
        common["n_base"] -= at
        for metric in CONVERSATION_METRICS:
            yield {**common, "metric": metric.name, "i": None, "population": "all"}
        for metric in GAINS.by_i:
            for i in range(1, iterations + 1):
                for population in ("reached", "all"):
                    yield {**common, "metric": metric.name, "i": i, "population": population}


def test_many_pairs_are_thinned_evenly_and_include_both_extremes():
    found = pairs_by_metric(differences(30_000, ["CG"]), ["CG"])["CG"]
    assert found["count"] == 30_000
    assert (found["ranks"][0], found["ranks"][-1]) == (1, 30_000)
    steps = {
        after - before for before, after in zip(found["ranks"], found["ranks"][1:], strict=False)
    }
    assert max(steps) - min(steps) <= 1
    assert list(found["difference"]) == sorted(found["difference"], reverse=True)
    assert found["difference"][0] == pytest.approx(29_999.1, abs=0.1)


def test_few_pairs_are_all_shown():
    found = pairs_by_metric(differences(40, ["CG"]), ["CG"])["CG"]
    assert list(found["ranks"]) == list(range(1, 41))


@pytest.mark.slow
@pytest.mark.parametrize(("slices", "iterations"), [(200, 2), (40, 60), (3, 500)])
def test_data_of_a_large_comparison_fits(slices, iterations):
    pairs = pairs_by_metric(differences(3_000, headline("comparison")), headline("comparison"))
    found = arrange(rows(slices, iterations), headline("comparison"), "holm")
    assert len(found.shown) + found.left_out == slices + 1
    assert found.shown[0].attributes == {}
    data = [
        [slice_data(slice_, True, all_columns(True, "holm")) for slice_ in found.shown],
        pairs,
    ]
    assert len(msgspec.json.encode(data)) < BYTES_FOR_DATA


def test_the_largest_slices_are_kept():
    found = arrange(rows(200, 2), headline("comparison"), "holm")
    kept = {slice_.attributes["user"] for slice_ in found.shown[1:]}
    assert found.left_out > 0
    assert kept == {f"u-{at:05}" for at in range(1, len(kept) + 1)}


@pytest.mark.parametrize(("fewest", "banded"), [(9, False), (10, True)])
def test_a_slice_with_fewer_than_ten_conversations_in_an_arm_draws_no_band(fewest, banded):
    few = [{**row, "n_candidate": fewest} for row in rows(0, 2)]
    (one,) = arrange(few, headline("comparison"), "holm").shown
    curve = slice_data(one, False, all_columns(False, "holm"))["curves"]["all"]["CG_at_i"]
    assert any(curve["ci_low"] + curve["ci_high"]) is banded
    assert all(curve["difference"])
