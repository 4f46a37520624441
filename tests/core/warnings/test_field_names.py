"""Names of fields that nothing reads, and the mappings suggested for them."""

import pytest

from goodgain.transforms.core.scoring.data_counts import (
    LABELS,
    RESULTS,
    UNIDENTIFIED,
)
from goodgain.transforms.core.warnings.check_inputs import (
    CheckInputs,
)
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.field_names import SeenNames, find_unknown_names, names_in
from tests.core.direct import shipped_rules
from tests.core.warnings.given_counts import warn


def test_costs_that_cannot_be_columns_give_a_warning():
    record = {"costs": {"tokens": 1, "cost in usd": 2}, "results": []}
    (one,) = warn({}, [record])
    assert (one.code, one.count) == ("unknown_fields", 1)
    assert "'cost in usd'" in one.message
    assert "tokens" not in one.message


@pytest.mark.parametrize(
    ("source", "message_part"),
    [
        ("relevanse", "none of the first records has: relevanse (did you mean relevance?)."),
        ("colour", "none of the first records has: colour."),
    ],
)
def test_a_mapped_field_that_no_record_has_gives_a_warning(source, message_part):
    seen = SeenNames(result=frozenset({"relevance"}), without_source=(source,))
    found = warnings_of(CheckInputs({}, 2, shipped_rules(), records=1, seen=seen))
    assert (found[0].code, found[0].count) == ("unknown_fields", 1)
    assert message_part in found[0].message


def test_no_identity_suggests_an_unread_field_as_id():
    counts = {RESULTS: 100, LABELS[2]: 100, UNIDENTIFIED: 100}
    unread = {"results": [{"docKey": "a"}], "build": 7}
    _, one = warn(counts, [unread])
    assert "--map ids.docKey=docKey. Otherwise: give results an id" in one.remedy
    _, mapped = warn(counts, [{"build": 7}])
    assert "--map" not in mapped.remedy


def results_of(**values):
    """Lists of five results with these values, each repeated until there are five."""
    columns = {name: [value[at % len(value)] for at in range(5)] for name, value in values.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_no_identity_suggests_only_names_that_can_tell_documents_apart():
    """Following `--map ids.market=market` would merge all documents of a market."""
    counts = {RESULTS: 100, LABELS[2]: 100, UNIDENTIFIED: 100}
    documents = [f"d{number}" for number in range(5)]
    records = [{"results": results_of(doc_id=documents, market=["de"], tenant_id=["t", "u"])}] * 3
    unknown, one = warn(counts, records)
    assert "If doc_id identifies a document, add --map ids.doc_id=doc_id. Otherwise" in one.remedy
    for without in ("market=", "tenant_id="):
        assert without not in one.remedy + unknown.remedy
    _, of_low = warn(counts, [{"results": results_of(market=["de"], tenant_id=["t"])}])
    assert "--map" not in of_low.remedy
    mapped = [{"entity_type": "File", "ids": ids} for ids in results_of(a_id=["t"], z=documents)]
    (named,) = warn(counts, [{"results": mapped}])
    assert "If ids.z identifies a document" in named.remedy


def test_no_field_is_suggested_as_label_with_external_judgments():
    record = {"conversation_id": "c", "iteration": 1, "results": [{"relevance": 3, "text": "a"}]}
    for external, mapping in (
        (False, "--map gain=relevance,content=text"),
        (True, "--map content=text"),
    ):
        (one,) = warn({RESULTS: 1, LABELS[3]: 1}, [record], external=external)
        assert one.code == "unknown_fields"
        assert "results[].relevance" in one.message
        assert one.remedy.endswith(f"add {mapping}.")


UNREAD = [
    ({"relevance": 1}, "results[].relevance", "gain"),
    ({"document_id": 1}, "results[].document_id", "ids.document_id"),
    ({"text": 1}, "results[].text", "content"),
    ({"entityType": 1}, "results[].entityType", "entity_type"),
    ({"author": 1}, "results[].author", "fields.author"),
    ({"colour": 1}, "results[].colour", None),
]


@pytest.mark.parametrize(("result", "path", "meant"), UNREAD)
def test_unknown_fields_of_results_suggest_a_mapping(result, path, meant):
    (one,) = find_unknown_names(names_in([{"results": [result]}]), shipped_rules().fields)
    assert (one.path, one.meant) == (path, meant)
    (warning,) = warn({}, [{"results": [result]}])
    assert warning.code == "unknown_fields"
    assert path in warning.message
    assert (f"--map {meant}={next(iter(result))}" in warning.remedy) == (meant is not None)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("conversationId", "conversation_id"), ("step", "iteration"), ("hits", "results")],
)
def test_unknown_fields_of_records_suggest_a_mapping(name, meant):
    (one,) = find_unknown_names(names_in([{name: 1}]), ())
    assert (one.path, one.meant) == (name, meant)


@pytest.mark.parametrize(
    "record",
    [None, 3, [], {}, {"results": None}, {"results": {"a": 1}}, {"results": [None, {"ids": None}]}],
)
def test_invalid_records_have_no_unknown_fields(record):
    assert find_unknown_names(names_in([record]), ()) == []


def test_only_the_first_1000_results_of_a_record_are_searched_for_names():
    results = [{}] * 999 + [{"near": 1}, {"far": 1}]
    assert names_in([{"results": results}]).result == {"near"}
