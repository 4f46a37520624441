"""One conversation of an agent, in the shapes of the interfaces that people keep chats of."""

import json

from tests.pipeline.convert.importing import import_and_count

A, B, C = (
    {"title": name, "url": f"https://ex.org/{name}", "content": f"text of {name}"} for name in "abc"
)
# The agent asks for two searches at once, then opens a page, then searches again, and answers.
STEPS = [
    [("1", "web_search", {"query": "red kites"}, [A, B]), ("2", "web_search", {"query": "x"}, [])],
    [("3", "fetch", {"url": "https://ex.org/a"}, "a page")],
    [("4", "web_search", {"query": "kite food"}, [B, C])],
]
EXPECTED = [
    ("search", 1, 0, "red kites", ["https://ex.org/a", "https://ex.org/b"]),
    ("search", 1, 1, "x", []),
    ("open", 2, 0, None, ["https://ex.org/a"]),
    ("search", 3, 0, "kite food", ["https://ex.org/b", "https://ex.org/c"]),
]


def openai():
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "find kites"}]
    for step in STEPS:
        calls = [
            {"id": i, "type": "function",
             "function": {"name": name, "arguments": json.dumps(arguments)}}
            for i, name, arguments, _ in step
        ]  # fmt: skip
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": i, "content": json.dumps(answer)}
            for i, _, _, answer in reversed(step)
        ]
    return [*messages, {"role": "assistant", "content": "done"}]


def anthropic():
    messages = [{"role": "user", "content": [{"type": "text", "text": "find kites"}]}]
    for step in STEPS:
        asked = [
            {"type": "tool_use", "id": i, "name": name, "input": arguments}
            for i, name, arguments, _ in step
        ]
        returned = [
            {"type": "tool_result", "tool_use_id": i,
             "content": [{"type": "text", "text": json.dumps(answer)}]}
            for i, _, _, answer in step
        ]  # fmt: skip
        messages += [
            {"role": "assistant", "content": [{"type": "text", "text": "I search."}, *asked]},
            {"role": "user", "content": returned},
        ]
    return messages


def responses():
    items = [{"role": "user", "content": "find kites"}]
    for step in STEPS:
        items += [
            {
                "type": "function_call",
                "call_id": i,
                "name": name,
                "arguments": json.dumps(arguments),
            }
            for i, name, arguments, _ in step
        ]
        items += [
            {"type": "function_call_output", "call_id": i, "output": json.dumps(answer)}
            for i, _, _, answer in step
        ]
    return items


def gemini():
    contents = [{"role": "user", "parts": [{"text": "find kites"}]}]
    for step in STEPS:
        asked = [{"functionCall": {"name": n, "args": arguments}} for _, n, arguments, _ in step]
        returned = [
            {"functionResponse": {"name": n, "response": {"result": answer}}}
            for _, n, _, answer in step
        ]
        contents += [{"role": "model", "parts": asked}, {"role": "user", "parts": returned}]
    return contents


def langchain():
    messages = [{"type": "human", "data": {"content": "find kites"}}]
    for step in STEPS:
        calls = [{"id": i, "name": n, "args": arguments} for i, n, arguments, _ in step]
        messages.append({"type": "ai", "data": {"content": "", "tool_calls": calls}})
        messages += [
            {"type": "tool", "data": {"content": json.dumps(answer), "tool_call_id": i, "name": n}}
            for i, n, _, answer in step
        ]
    return messages


def bedrock():
    messages = [{"role": "user", "content": [{"text": "find kites"}]}]
    for step in STEPS:
        asked = [{"toolUse": {"toolUseId": i, "name": n, "input": a}} for i, n, a, _ in step]
        returned = [
            {"toolResult": {"toolUseId": i, "status": "success", "content": [
                {"json": {"results": answer}} if isinstance(answer, list) else {"text": answer}]}}
            for i, _, _, answer in step
        ]  # fmt: skip
        messages += [{"role": "assistant", "content": asked}, {"role": "user", "content": returned}]
    return messages


def pydantic_ai():
    messages = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "find kites"}]}
    ]
    for step in STEPS:
        asked = [
            {"part_kind": "tool-call", "tool_name": n, "args": a, "tool_call_id": i}
            for i, n, a, _ in step
        ]
        returned = [
            {"part_kind": "tool-return", "tool_name": n, "content": answer, "tool_call_id": i}
            for i, n, _, answer in step
        ]
        messages += [
            {"kind": "response", "parts": asked}, {"kind": "request", "parts": returned}
        ]  # fmt: skip
    return messages


def ai_sdk():
    messages = [{"role": "user", "content": "find kites"}]
    for step in STEPS:
        asked = [
            {"type": "tool-call", "toolCallId": i, "toolName": n, "input": a} for i, n, a, _ in step
        ]
        returned = [
            {"type": "tool-result", "toolCallId": i, "toolName": n,
             "output": {"type": "json" if isinstance(answer, list) else "text", "value": answer}}
            for i, n, _, answer in step
        ]  # fmt: skip
        messages += [{"role": "assistant", "content": asked}, {"role": "tool", "content": returned}]
    return messages


def claude_code():
    lines = [{"type": "user", "message": {"role": "user", "content": "find kites"}}]
    for number, step in enumerate(STEPS):
        usage = {"input_tokens": 3, "cache_read_input_tokens": 90, "output_tokens": 7}
        lines += [
            {"type": "assistant", "message": {
                "role": "assistant", "id": f"m{number}", "usage": usage,
                "content": [{"type": "tool_use", "id": i, "name": n, "input": a}]}}
            for i, n, a, _ in step
        ]  # fmt: skip
        for i, _, _, answer in step:
            block = {"type": "tool_result", "tool_use_id": i, "content": "Links: ..."}
            found = {"results": [{"tool_use_id": "s", "content": answer}, "Some words."]}
            page = {"url": "https://ex.org/a", "code": 200, "result": answer}
            result = found if isinstance(answer, list) else page
            message = {"role": "user", "content": [block]}
            lines.append({"type": "user", "message": message, "toolUseResult": result})
    return [
        {"type": "summary", "summary": "Kites"},
        *({**line, "sessionId": "c1"} for line in lines),
    ]


SHAPES = (openai, anthropic, responses, gemini, langchain, bedrock, pydantic_ai, ai_sdk)


def shape(records):
    return [
        (record["action"], record["iteration"], record["call"], record["query"],
         [result["url"] for result in record["results"]])
        for record in records
    ]  # fmt: skip


def write(folder, text, name="c1.json"):
    path = folder / name
    path.write_text(text)
    return path


def of(tmp_path, messages):
    records, _ = import_and_count([write(tmp_path, json.dumps(messages))], format="chat")
    return [
        (
            record["action"],
            record["iteration"],
            record["query"],
            [r.get("url") or r.get("id") for r in record["results"]],
        )
        for record in records
    ]
