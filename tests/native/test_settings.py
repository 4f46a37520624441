"""Native code reads and folds only by settings that it knows; Python heeds them all."""

from typing import Annotated

import pytest

from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.option import LIMITS, SCORING, Option
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from goodgain.transforms.core.scoring.settings import Scoring
from tests.native.paths import needs_native, new_packer

pytestmark = needs_native


class LaterScoring(Scoring, frozen=True, dict=True):
    """With a setting that came after native code."""

    without_repeats: Annotated[bool, Option(SCORING, "", "leave them out")] = False


class LaterBounds(ReadBounds, frozen=True):
    """With a limit that came after native code."""

    max_words: Annotated[int | None, Option(LIMITS, "N", "reject longer queries")] = None


def folds_natively(scoring):
    return PayloadScorer(scoring)._folder is not None


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"without_failed": True, "usage": True, "per_call": True, "write_duplicates": True},
        {"document_label": "best", "duplicates": "hold_slot", "max_i": 3, "cost": ("tokens",)},
        {"label_keys": LabelKeys(), "bounds": True},
    ],
)
def test_settings_that_native_code_knows(settings):
    assert folds_natively(Scoring.default(**settings))
    assert folds_natively(LaterScoring.default(**settings))


def test_a_setting_that_it_does_not_know_is_left_to_python():
    assert not folds_natively(LaterScoring.default(without_repeats=True))
    assert not folds_natively(Scoring.default(aspects=True))
    assert not folds_natively(Scoring.default(["alpha_ndcg@10"]))


def test_a_bound_that_it_does_not_know_is_left_to_python():
    packer = new_packer()
    assert packer.can_read(None, ReadBounds(max_decoded_bytes=9, max_record_results=2))
    assert packer.can_read(None, LaterBounds(max_record_results=2))
    assert not packer.can_read(None, LaterBounds(max_words=3))
