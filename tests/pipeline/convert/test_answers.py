"""What a tool answered is found in every envelope in which frameworks wrap it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.pipeline.convert.importing.answers import document_fields
from goodgain.pipeline.convert.importing.answers.answer import read_answer
from goodgain.pipeline.convert.importing.answers.text_documents import parse_text_documents

DOCUMENTS = [
    {"title": "It's a kite", "url": "https://ex.org/a", "content": 'Kites nest in "tall" trees.'},
    {"title": "Food", "url": "https://ex.org/b", "content": "Small mammals, é."},
]
JSON = json.dumps(DOCUMENTS)
MESSAGE = {
    "type": "tool",
    "name": "web",
    "tool_call_id": "1",
    "artifact": None,
    "status": "success",
}
ENVELOPES = {
    "value": DOCUMENTS,
    "JSON": JSON,
    "JSON twice": json.dumps(JSON),
    "Python's repr": repr(DOCUMENTS),
    "bytes": JSON.encode(),
    "a text after JSON": JSON + "\n\nREMINDER: cite the sources.",
    "results": {"query": "kites", "images": [], "results": DOCUMENTS},
    "other names": {"status": "ok", "payload": {"page": {"results": DOCUMENTS}}},
    "nested results": {"data": {"web": {"results": DOCUMENTS}}},
    "JSON under a key": {"documents": JSON},
    "pairs with scores": [[document, 0.5] for document in DOCUMENTS],
    "message": {**MESSAGE, "content": JSON},
    "message with values": {**MESSAGE, "content": DOCUMENTS},
    "message in data": {"type": "tool", "data": {**MESSAGE, "content": JSON}},
    "message in output": {"output": {**MESSAGE, "content": JSON}},
    "serialized message": {
        "output": {"lc": 1, "type": "constructor", "id": ["langchain"], "kwargs": {"content": JSON}}
    },
    "artifact": {**MESSAGE, "content": "two pages", "artifact": DOCUMENTS},
    "artifact's results": {**MESSAGE, "content": "2 pages", "artifact": {"results": DOCUMENTS}},
    "printed message": f"content={JSON!r} name='web' tool_call_id='1'",
    "printed message with an id": f"content={JSON!r} id='7'",
    "messages of a graph": {
        "messages": [{"type": "human", "content": "?"}, {**MESSAGE, "content": JSON}]
    },
    "command of a graph": {"update": {"messages": [{**MESSAGE, "content": JSON}]}, "goto": []},
    "a pair of content and artifact": ["two pages", DOCUMENTS],
    "block": [{"type": "text", "text": JSON}],
    "blocks with a document "
    "each": [{"type": "text", "text": json.dumps(document)} for document in DOCUMENTS],
    "answer of MCP": {"content": [{"type": "text", "text": JSON}], "isError": False},
    "structured content": {
        "content": [{"type": "text", "text": "2 pages"}],
        "structuredContent": {"result": DOCUMENTS},
    },
    "Anthropic's result": {"type": "tool_result", "tool_use_id": "1", "content": [
        {"type": "text", "text": JSON}]},
    "OpenAI's output": {"type": "function_call_output", "call_id": "1", "output": JSON},
    "Bedrock's content": {"toolUseId": "1", "status": "success", "content": [
        {"json": {"results": DOCUMENTS}}]},
    "the AI SDK's value": {"type": "json", "value": DOCUMENTS},
    "printed message with an artifact":
        f"content='two pages' name='web' tool_call_id='1' artifact={DOCUMENTS!r} status='success'",
    "printed answer of MCP": f"meta=None content=[TextContent(type='text', text={JSON!r})] "
        "structuredContent=None isError=False",
    "answer of Weaviate": {"data": {"Get": {"Page": DOCUMENTS}}},
    "answers to several queries": [
        {"query": "a", "results": DOCUMENTS[:1]}, {"query": "b", "results": DOCUMENTS[1:]}
    ],
    "blocks of LlamaIndex": {"blocks": [{"block_type": "text", "text": JSON}], "tool_name": "web"},
}  # fmt: skip


@pytest.mark.parametrize("answer", ENVELOPES.values(), ids=ENVELOPES)
def test_every_envelope_gives_the_same_documents(answer):
    assert [
        {name: found[name] for name in DOCUMENTS[0]} for found in read_answer(answer).documents
    ] == DOCUMENTS


@pytest.mark.parametrize(
    ("answer", "documents", "cut"),
    [
        ([{"id": 1}], [{"id": 1}], False),
        ([], [], False),
        ("", [], False),
        ("[]", [], False),
        ({"results": []}, [], False),
        ([{"type": "text", "text": "[]"}], [], False),
        ("No results found for 'kites'.", [], False),
        ("No documents", [], False),
        ({"results": [{"url": "u"}]}, [{"url": "u"}], False),
        ({"data": {"hits": [{"id": 1}]}}, [{"id": 1}], False),
        ('[{"id": 1, "t": "a}b"}, {"id": 2, "te', [{"id": 1, "t": "a}b"}], True),
        ('{"results": [{"id": 1}, {"id"', [{"id": 1}], True),
        ('[{"id": 1', None, True),
        ('{"q": "x", "results": [{"id": 1, "a": [{"n": 2}]}, {"id": 3, "a": [{"n": 4}], "t',
         [{"id": 1, "a": [{"n": 2}]}], True),
        ("[{'id': 1, 't': 'it\\'s'}, {'id': 2, 'te", [{"id": 1, "t": "it's"}], True),
        ("[Document(id='1', page_content='x'), Document(id='2', page_con",
         [{"id": "1", "page_content": "x"}], True),
        (json.dumps({"type": "tool", "content": '[{"id": 1}, {"id": 2}]'})[:-12],
         [{"id": 1}], True),
        ("No links found.", [], False),
        ('Web search results for query: "kites"\n\nNo links found.', [], False),
        ("Found 0 results for kites", [], False),
        ("Your search did not match any documents.", [], False),
        ("the weather is fine", None, False),
        ('{"answer": 42}', None, False),
        ([{"type": "text", "text": "The sum is 3"}], None, False),
        ([1, 2], None, False),
        ([{"name": "Bob"}], None, False),
        (None, None, False),
        (3, None, False),
        ("3", None, False),
        ({"ids": [["a"]], "documents": [["t"]]}, [{"id": "a", "text": "t"}], False),
        ("[Document(id='3', metadata={'source': 'https://a/b'}, page_content='it\\'s')]",
         [{"id": "3", "metadata": {"source": "https://a/b"}, "page_content": "it's"}], False),
    ],
)  # fmt: skip
def test_documents_of_an_answer(answer, documents, cut):
    found = read_answer(answer)
    assert (found.documents, found.is_cut_off) == (documents, cut)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"error": "rate limit"}, "rate limit"),
        ({"error": {"code": 429, "message": "slow down"}}, "slow down"),
        ({**MESSAGE, "status": "error", "content": "no network"}, "no network"),
        ({"content": [{"type": "text", "text": "no network"}], "isError": True}, "no network"),
        ("Error: HTTP 500", "Error: HTTP 500"),
        ("content='no network' name='web' tool_call_id='1' status='error'", "no network"),
        ({"type": "web_search_tool_result_error", "error_code": "too_many"}, "too_many"),
        ({"results": DOCUMENTS, "error": None}, None),
        ("the weather is fine", None),
    ],
)  # fmt: skip
def test_error_of_an_answer(answer, error):
    assert read_answer(answer).error == error


@pytest.mark.parametrize(
    "answer", [[1, 2], [{"name": "Bob"}], ["a", "b"], {"rows": [{"name": "Bob"}]}]
)
def test_a_list_of_something_else_is_noted(answer):
    found = read_answer(answer)
    assert found.documents is None
    assert found.unread


def test_lists_beside_an_answer_are_not_the_answer():
    told = {"answer": "In Wales.", "metadata": {"results": DOCUMENTS}, "input": {"docs": DOCUMENTS}}
    assert read_answer(told).documents is None


def test_tags_beside_a_text_are_no_list_of_something_else():
    told = {"output": {**MESSAGE, "content": "4"}, "kwargs": {"tags": ["seq:step:1"]}}
    assert (read_answer(told).unread, read_answer(told).text) == (None, "4")


def test_an_error_has_no_stack_trace():
    told = (
        "Error: ValueError('no index')\nTraceback (most recent call last):\n  File ...\nValueError"
    )
    assert read_answer(told).error == "Error: ValueError('no index')"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "## Search Results\n\n[Red kite](https://ex.org/a)\nKites nest in tall trees.\n\n"
            "[Black kite](https://ex.org/b_(bird))\nSeen near water.\nIn summer.",
            [("https://ex.org/a", "Red kite", "Kites nest in tall trees."),
             ("https://ex.org/b_(bird)", "Black kite", "Seen near water.\nIn summer.")],
        ),
        (
            "[1] Kite food\nhttps://ex.org/food\nSmall mammals.\n\n[2] Nests\nhttps://ex.org/n.\nTrees.",
            [("https://ex.org/food", "Kite food", "Small mammals."),
             ("https://ex.org/n", "Nests", "Trees.")],
        ),
        (
            "1. Kites - https://ex.org/a\n   They fly.\n2. Food (https://ex.org/b)\n",
            [("https://ex.org/a", "Kites", "They fly."), ("https://ex.org/b", "Food", None)],
        ),
        ("https://a.org\nFirst.\n\nhttps://a.org\nAgain.", [("https://a.org", None, "First.")]),
        (
            'Web search results for query: "kites"\n\nLinks: [{"title":"A","url":"https://ex.org/a"}]\n\n'
            "Read [other](https://ex.org/c)",
            [("https://ex.org/a", "A", None)],
        ),
        (
            'Links: [{"title":"A","url":"https://ex.org/a"}]\n\nI look further.\n\n'
            'Links: [{"title":"B","url":"https://ex.org/b"}]\n\nSee [{"url": "https://ex.org/c"}]',
            [("https://ex.org/a", "A", None), ("https://ex.org/b", "B", None)],
        ),
        (
            "Source: {'source': 'https://ex.org/a', 'start_index': 3}\nContent: They fly.\n\n"
            "Source: {'source': 'https://ex.org/b'}\nContent: They eat.",
            [("https://ex.org/a", None, "They fly."), ("https://ex.org/b", None, "They eat.")],
        ),
        (
            '<information>Doc 1(Title: "Red (kite)") It flies.\nDoc 2(Title: Food) Mammals.\n'
            "</information>",
            [(None, "Red (kite)", "It flies."), (None, "Food", "Mammals.")],
        ),
        (
            "Title: A\nURL: https://ex.org/a\nContent: First.\nSecond.\n\nTitle: B\nURL: https://ex.org/b\n"
            "Content: Other.",
            [("https://ex.org/a", "A", "First.\nSecond."), ("https://ex.org/b", "B", "Other.")],
        ),
        ("Page: Kite\nSummary: A bird.\n\nPage: Food\nSummary: Mammals.",
         [(None, "Kite", "A bird."), (None, "Food", "Mammals.")]),
        (
            "snippet: They, too, fly., title: Kites, link: https://ex.org/a, snippet: Mammals, "
            "title: Food, link: https://ex.org/b",
            [("https://ex.org/a", "Kites", "They, too, fly."),
             ("https://ex.org/b", "Food", "Mammals")],
        ),
    ],
)  # fmt: skip
def test_documents_that_a_text_lists(text, expected):
    assert [
        (found.get("url"), found.get("title"), found.get("snippet"))
        for found in parse_text_documents(text)
    ] == expected


@pytest.mark.parametrize(
    "text",
    ["Document 1 (docid: d1)\nThey fly.\n\nDocument 2 (docid: d2)\nThey eat.",
     "[docid: d1] They fly.\n[docid: d2] They eat."],
)  # fmt: skip
def test_documents_that_a_text_names_by_id(text):
    assert parse_text_documents(text) == [
        {"id": "d1", "snippet": "They fly."},
        {"id": "d2", "snippet": "They eat."},
    ]


@pytest.mark.parametrize(
    "text", ["The sum is 3", "![kite](https://ex.org/kite.png)", "a [b] (c)", ""]
)
def test_a_text_may_list_nothing(text):
    assert parse_text_documents(text) is None


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        ({"href": "https://a", "body": "b"}, (None, "https://a", None, "b")),
        ({"link": "https://a", "raw_content": "b"}, (None, "https://a", None, "b")),
        ({"source_url": "https://a", "highlights": ["b", "c"]}, (None, "https://a", None, "b\nc")),
        ({"doc_uri": "kb/1.pdf", "page_content": "b"}, (None, "kb/1.pdf", None, "b")),
        ({"_id": "7", "_source": {"title": "t", "text": "b"}}, ("7", None, "t", "b")),
        ({"node": {"id_": "7", "text": "b", "metadata": {"url": "u"}}}, ("7", "u", None, "b")),
        ({"text": "b", "metadata": {"source": "web", "title": "t"}}, (None, None, "t", "b")),
        ({"document.id": "7", "document.metadata": '{"source": "a/b"}'}, ("7", "a/b", None, None)),
        ({"name": "t", "url": "https://a", "snippet": "b"}, (None, "https://a", "t", "b")),
        ({"title": "t", "content": [{"type": "text", "text": "b"}]}, (None, None, "t", "b")),
        ({"file_id": "7", "filename": "t", "content": "b"}, ("7", None, "t", "b")),
        ({"entry_id": "https://a", "title": "t", "summary": "b"}, (None, "https://a", "t", "b")),
        ({"title": "t", "source": {"type": "url", "url": "https://a"}},
         (None, "https://a", "t", None)),
        ({"content": {"text": "b"}, "location": {"s3Location": {"uri": "s3://a/b"}}},
         (None, "s3://a/b", None, "b")),
        ({"id": "7", "document": {"derivedStructData": {"link": "https://a", "title": "t"}}},
         ("7", "https://a", "t", None)),
    ],
)  # fmt: skip
def test_fields_by_the_names_of_other_tools(document, fields):
    readers = ("id_of", "url_of", "title_of", "text_of")
    assert tuple(getattr(document_fields, name)(document) for name in readers) == fields


def test_a_whole_text_stands_beside_the_passage():
    document = {"content": "short", "raw_content": "long"}
    assert document_fields.text_of(document) == "short"
    assert document_fields.content_of(document) == "long"
    assert document_fields.content_of({"raw_content": "long"}) is None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(
        ["[", "{", "[1", "content='x'", "Document(a=1)", "https://a", "[a](https://b)", "Title: x"]
    ),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["content", "type", "text", "results", "error"]), inner),
    max_leaves=8,
)  # fmt: skip


@given(ANYTHING)
def test_nothing_makes_reading_fail(value):
    for answer in (value, json.dumps(value), repr(value)):
        read_answer(answer)
