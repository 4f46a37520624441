"""Imports records in memory, for the tests of `goodgain convert --from`."""

import json
from collections import deque
from pathlib import Path

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.formats.catalog import FORMATS
from goodgain.pipeline.convert.importing.imported_traces import import_traces
from goodgain.pipeline.convert.importing.mapping_file import (
    parse_mapping_file,
    read_shipped_mapping,
)
from goodgain.pipeline.inputs.local_files import find_local_files

FIXTURES = Path(__file__).parent / "fixtures"

# Short names in spans: i id, p parent, s start, e end, k kind, c session, d documents.
SPANS = """
unit: span
trace: t || 'T'
span: i
parent: p
start: s
end: e
time: s
conversation: c
search: k == 'search'
tool_call: k == 'tool'
rerank: k == 'rerank'
model: k == 'model'
query: q
tool: n
attributes: {arm: arm}
costs: {tokens: tokens, usd: usd}
results: d
result: {id: id, url: url, gain: gain}
"""


def import_records(folder, records, mapping=SPANS, format="custom"):
    """The trace records imported from JSON records, and the counts."""
    path = folder / "input.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return import_and_count([path], mapping, format)


def import_and_count(paths, mapping=None, format="custom", keep=True):
    """The trace records, none of which are held unless `keep`, and the counts."""
    counts = ImportCounts()
    compiled = parse_mapping_file(mapping or read_shipped_mapping(format), "m.yaml", counts)
    files = find_local_files([str(path) for path in paths])
    records = import_traces(files, FORMATS[format], compiled, counts)
    return list(records) if keep else deque(records, maxlen=0), counts


def actions(counts):
    """By tool, how it is classified, and the number of its calls."""
    return {name: (tool.action, tool.calls) for name, tool in counts.tools.items()}


def places(records):
    """The position of each record: conversation, turn, iteration, call and query."""
    return [
        (r["conversation_id"], r["turn"], r["iteration"], r["call"], r["query"]) for r in records
    ]
