"""In Python `True` is 1; in files that users write, no number may be `true`."""

from collections.abc import Iterator, Mapping
from typing import Any
from warnings import catch_warnings

import pytest
from pydantic import BaseModel, ValidationError

from goodgain.pipeline.settings.compare_config import CompareConfig
from goodgain.pipeline.settings.pool_config import JudgeConfig
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.sample_config import SampleConfig
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.pipeline.studies.gate.gate_file import GateFile
from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.pipeline.studies.nightly.config import NightlyConfig
from goodgain.transforms.core.dedup.rules_file import Points, Requirement, RulesFile

MODELS = (
    RunConfig, StreamConfig, CompareConfig, NightlyConfig, GateFile, Rule, RulesFile, Points,
    Requirement, SampleConfig, JudgeConfig,
)  # fmt: skip

REQUIRED = {Requirement: {"of": ["title"]}}  # without which no field is looked at


def forms(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas of a value that may have one of several forms."""
    return schema.get("anyOf", [schema])


def kinds(schema: Mapping[str, Any]) -> Iterator[str]:
    """The JSON types that a value may have."""
    for form in forms(schema):
        types = form.get("type", ())
        yield from [types] if isinstance(types, str) else types


def numbers(model: type[BaseModel]) -> Iterator[str]:
    """The keys whose values may be numbers."""
    with catch_warnings(action="ignore"):  # of defaults that JSON cannot hold
        whole = model.model_json_schema()
    properties = [pair for form in forms(whole) for pair in form.get("properties", {}).items()]
    for key, schema in properties:
        if not {"integer", "number"}.isdisjoint(kinds(schema)):
            yield key


def test_there_are_numbers_of_each_kind():
    assert {"iteration_base", "max_i", "max_rejected"} <= set(numbers(RunConfig))
    assert {"needed", "any other field"} <= set(numbers(Points))


@pytest.mark.parametrize(
    ("model", "key"), [(model, key) for model in MODELS for key in numbers(model)]
)
def test_true_is_no_number(model, key):
    with pytest.raises(ValidationError) as caught:
        model.model_validate({**REQUIRED.get(model, {}), key: True})
    assert key in [error["loc"][0] for error in caught.value.errors()]


def test_true_is_no_number_of_points_for_a_field():
    points = {"any other field": 1, "needed": 4, "needed with id context": 2}
    Points.model_validate({**points, "title": 2})
    with pytest.raises(ValidationError, match="must be a number, not true"):
        Points.model_validate({**points, "title": True})
