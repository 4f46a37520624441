"""The schema of written traces names every field of a record: Avro drops what it does not name."""

from goodgain.pipeline.results.trace_files import trace_schema
from goodgain.transforms.core.records.search_call import Result, SearchCall


def names(schema):
    return {field["name"] for field in schema["fields"]}


def test_every_field_of_records_and_results_is_written():
    schema = trace_schema()
    (results,) = (field for field in schema["fields"] if field["name"] == "results")
    assert names(schema) == set(SearchCall.__struct_fields__)
    assert names(results["type"]["items"]) == set(Result.__struct_fields__)
