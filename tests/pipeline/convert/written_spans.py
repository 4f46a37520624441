"""Writes the spans of an agent as each tool exports them."""

import json


def otlp(kind, id_, parent, start, given, output):
    kinds = {"model": "LLM", "tool": "TOOL"}
    attributes = {
        "openinference.span.kind": kinds.get(kind, "AGENT"), "tool.name": "search",
        "input.value": json.dumps(given), "output.value": json.dumps(output),
    }  # fmt: skip
    span = {"trace_id": "1" * 32, "span_id": f"{id_:016}", "name": kind, "start_time": start}
    above = {} if parent is None else {"parent_span_id": f"{parent:016}"}
    return span | above | {"end_time": start + 9, "attributes": attributes}


def langfuse(kind, id_, parent, start, given, output):
    types = {"model": "GENERATION", "tool": "TOOL"}
    return {
        "traceId": "t", "id": f"{id_}", "type": types.get(kind, "SPAN"), "name": "search",
        "parentObservationId": None if parent is None else f"{parent}", "startTime": start,
        "endTime": start + 9, "input": given, "output": output,
    }  # fmt: skip


def langsmith(kind, id_, parent, start, given, output):
    types = {"model": "llm", "tool": "tool"}
    return {
        "trace_id": "t", "id": f"{id_}", "run_type": types.get(kind, "chain"), "name": "search",
        "parent_run_id": None if parent is None else f"{parent}", "start_time": start,
        "end_time": start + 9, "inputs": given, "outputs": output,
    }  # fmt: skip


def mlflow(kind, id_, parent, start, given, output):
    types = {"model": "LLM", "tool": "TOOL"}
    attributes = {
        "mlflow.traceRequestId": '"t"', "mlflow.spanType": json.dumps(types.get(kind, "AGENT")),
        "mlflow.spanInputs": json.dumps(given), "mlflow.spanOutputs": json.dumps(output),
    }  # fmt: skip
    return {
        "trace_id": "t", "span_id": f"{id_}", "name": "search", "attributes": attributes,
        "parent_span_id": None if parent is None else f"{parent}", "start_time_unix_nano": start,
        "end_time_unix_nano": start + 9,
    }  # fmt: skip


WRITERS = {"otlp": otlp, "langfuse": langfuse, "langsmith": langsmith, "mlflow": mlflow}


def agent(format, steps):
    """The spans of an agent, and of steps under it, one after another or inside each other.

    A step is the kind (model or tool), its number from 2, that of the span above it, and what was
    given and answered. An inner step begins 100 ns after the one above it.
    """
    write, second = WRITERS[format], 10**12
    starts = {1: second}
    spans = [write("agent", 1, None, second, {}, {"answer": "x"})]
    for kind, number, above, given, answer in steps:
        starts[number] = number * second if above == 1 else starts[above] + 100
        spans.append(write(kind, number, above, starts[number], given, answer))
    return [{"info": {"trace_id": "t"}, "data": {"spans": spans}}] if format == "mlflow" else spans
