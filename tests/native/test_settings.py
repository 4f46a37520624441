"""Each setting of scoring reaches native code, or is decided outside of it."""

from goodgain.transforms.core.scoring.settings import Scoring

GIVEN_TO_NATIVE_CODE = {
    "rules", "good_gain_threshold", "document_label", "hold_slot", "usage", "without_failed",
    "keep_duplicates", "per_call", "label_keys", "exclusions",
}  # fmt: skip
LEFT_TO_PYTHON = {"pool", "aspects", "aspect_judgments"}
OF_THE_VALUES = {  # computed from what native code has folded
    "ranking", "bounds", "clock", "costs", "budgets", "max_i", "own", "outcomes", "conditions",
    "pass_k",
}  # fmt: skip


def test_every_setting_is_heeded():
    """A new one belongs to `_native_folder` of `score_payloads`, or native code ignores it."""
    heeded = GIVEN_TO_NATIVE_CODE | LEFT_TO_PYTHON | OF_THE_VALUES
    assert set(Scoring.__struct_fields__) == heeded
