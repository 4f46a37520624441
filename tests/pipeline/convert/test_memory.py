"""An import holds one trace at a time: its memory does not grow with the input."""

import json

import pytest

from goodgain.pipeline.convert.importing import imported_traces
from tests.memory import measure_peak
from tests.pipeline.convert.importing import import_and_count

pytestmark = pytest.mark.slow

MEBIBYTE = 2**20
TEXT = "Kites are birds of prey with long wings. " * 40


def spans(traces):
    """The spans of traces, one after another, each with two searches of ten documents."""
    for trace in range(1, traces + 1):
        documents = [{"url": f"https://ex.org/{trace}/{at}", "content": TEXT} for at in range(10)]
        for at, kind in enumerate(("AGENT", "LLM", "RETRIEVER", "LLM", "TOOL")):
            attributes = {"openinference.span.kind": kind, "input.value": f"query {at}"}
            if kind == "RETRIEVER":
                attributes["retrieval.documents"] = json.dumps(documents)
            if kind == "TOOL":
                attributes["output.value"] = json.dumps(documents)
            yield {
                "context": {"trace_id": f"{trace:032x}", "span_id": f"{trace * 8 + at + 1:016x}"},
                "parent_id": None if at == 0 else f"{trace * 8 + 1:016x}",
                "name": "web_search",
                "start_time": f"2026-01-01T00:00:0{at}Z",
                "end_time": f"2026-01-01T00:00:0{at}.5Z",
                "attributes": attributes,
            }


def peak(path, traces, as_list, limit=float("inf")):
    """The most bytes that an import of so many traces holds at once, and those of its input."""
    written = [json.dumps(span) for span in spans(traces)]
    path.write_text("[" + ",".join(written) + "]" if as_list else "\n".join(written))
    del written
    held, (_, counts) = measure_peak(
        lambda: import_and_count([path], format="otlp", keep=False), limit=limit
    )
    return held, path.stat().st_size, counts.calls


def test_memory_does_not_grow_with_the_input(tmp_path, monkeypatch):
    # A part of the traces is in memory at a time, whose size does not depend on the input.
    monkeypatch.setattr(imported_traces, "_INPUT_BYTES_PER_PART", MEBIBYTE)
    for as_list in (False, True):
        small, _, calls = peak(tmp_path / "small.json", 60, as_list)
        limit = small + MEBIBYTE
        large, size, more_calls = peak(tmp_path / "large.json", 150, as_list, limit)
        assert (calls, more_calls) == (120, 300)
        assert size > 5 * MEBIBYTE
        assert large < limit
