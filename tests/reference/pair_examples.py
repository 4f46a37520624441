"""Pairs of results, each with its name and the decision by SPEC 4.2 and 4.3."""

# A named id in no rule: it makes two results candidates of each other but decides nothing.
CANDIDATE = {"site": "s"}


def make(entity_type, ids=None, *, texts=None, candidate=True, **fields):
    """A result from its type, named ids, top-level columns and fields."""
    return {
        "entity_type": entity_type,
        "ids": {**(CANDIDATE if candidate else {}), **(ids or {})},
        "fields": {name.rstrip("_"): value for name, value in fields.items()},
        **(texts or {}),
    }


def with_url(url, **columns):
    return {"ids": CANDIDATE, "url": url, **columns}


PAIRS = [
    # Step 0
    ("type", make("File"), make("Event"), (False, "type", None)),
    (
        "aliases",
        make("person", {"upn": "a"}),
        make("PeopleInferenceAnswer", {"upn": "a"}),
        (True, "ids", None),
    ),
    (
        "email",
        make("EMAIL", {"email_url": "a"}),
        make(None, {"email_url": "a"}),
        (True, "ids", None),
    ),
    ("event", make("CalendarEvent"), make("event", {"x": "1"}), (False, "inconclusive", None)),
    ("connector", make("GraphConnector"), make("external"), (False, "inconclusive", None)),
    ("equal unknown types", make(" Wiki "), make("wIKI", {"x": "1"}), (True, "named_id", None)),
    ("different unknown types", make("Wiki"), make("Page"), (False, "type", None)),
    (
        "rules of the known type",
        make("File", {"file_id": "1"}),
        make(" ", {"file_id": "1"}),
        (True, "ids", None),
    ),
    (
        "default knows no file_id",
        make(None, {"file_id": "1"}, candidate=False),
        make(None, {"file_id": "1"}, candidate=False),
        (True, "named_id", None),
    ),
    # Step 1
    (
        "different container overrides the definitive id",
        make("File", {"file_id": "1", "site_id": "x"}),
        make("File", {"file_id": "1", "site_id": "y"}),
        (False, "ids", None),
    ),
    (
        "all comparable ids must agree",
        make("People", {"upn": "1", "alias": "x"}),
        make("People", {"upn": "1", "alias": "y"}),
        (False, "ids", None),
    ),
    (
        "ids that only make candidates",
        make("File", {"event_id": "1", "x": "1"}),
        make("File", {"event_id": "2"}),
        (False, "inconclusive", None),
    ),
    # Step 2
    ("url", with_url("http://x/a"), with_url("https://www.x:443/a/"), (True, "url", None)),
    ("host", with_url("http://x/a"), with_url("http://y/a"), (False, "url", None)),
    ("path", with_url("http://x/a"), with_url("http://x/A"), (False, "url", None)),
    (
        "identity",
        with_url("//x/a?id=1", snippet="s"),
        with_url("//x/a?ID=2", snippet="s"),
        (False, "url_identity", None),
    ),
    (
        "identity on one side only",
        with_url("//x/a?id=1", snippet="s"),
        with_url("//x/a?v=2", snippet="s"),
        (True, "url_text", None),
    ),
    (
        "different content overrides the equal snippet",
        with_url("//x/a?p=1", snippet="s", content="c"),
        with_url("//x/a", snippet="s", content="d"),
        (False, "url_text", None),
    ),
    (
        "content",
        with_url("//x/a?p=1", snippet="s", content="c"),
        with_url("//x/a", content="C"),
        (True, "url_text", None),
    ),
    (
        "texts not comparable",
        with_url("//x/a?p=1", snippet="s"),
        with_url("//x/a", content="s"),
        (False, "inconclusive", None),
    ),
    (
        "equal url except for the query is id context",
        {"url": "//x/a?p=1", "title": "t"},
        {"url": "//x/a", "title": "T "},
        (True, "fields", 2),
    ),
    # Step 3
    ("no id context", {"title": "t"}, {"title": "t"}, (False, "inconclusive", None)),
    (
        "three points without id context",
        {"title": "t", "fields": {"author": "a"}},
        {"title": "t", "fields": {"author": "a", "to": "t"}},
        (False, "inconclusive", None),
    ),
    (
        "container id is no id context",
        {"title": "t", "ids": {"site_id": "1"}},
        {"title": "t", "ids": {"site_id": "1", "x": "1"}},
        (False, "inconclusive", None),
    ),
    (
        "generic id is id context",
        {"title": "t", "id": "g", "url": "//x/a"},
        {"title": "t", "id": "g"},
        (True, "fields", 2),
    ),
    (
        "whole sets",
        make("EmailMessage", date_time_received="2024-01-01", to=["a", "b"]),
        make("EmailMessage", date_time_received="2024-01-01", to=["B", "a", "a"]),
        (True, "fields", 1),
    ),
    (
        "part of a set differs",
        make("EmailMessage", date_time_received="2024-01-01", to=["a", "b"]),
        make("EmailMessage", date_time_received="2024-01-01", to="a"),
        (False, "fields", None),
    ),
    # Step 4
    ("generic", {"id": "g"}, {"id": " g", "title": "t"}, (True, "generic_id", None)),
    ("case of a generic id", {"id": "g"}, {"id": "G"}, (False, "inconclusive", None)),
    ("address as id", {"id": "g@x"}, {"id": "G@X"}, (True, "generic_id", None)),
    (
        "url of only one result is not comparable",
        {"entity_type": "File", "id": "g", "url": "//x"},
        {"entity_type": "File", "id": "g"},
        (True, "generic_id", None),
    ),
    (
        "urls that differ only in the query are comparable",
        {"id": "g", "url": "//x?a=1"},
        {"id": "g", "url": "//x?a=2"},
        (False, "inconclusive", None),
    ),
    (
        "any named id that differs",
        {"entity_type": "File", "id": "g", "ids": {"thread": "1"}},
        {"entity_type": "File", "id": "g", "ids": {"thread": "2"}},
        (False, "inconclusive", None),
    ),
    (
        "any field that differs",
        {"entity_type": "Event", "id": "g", "title": "t"},
        {"entity_type": "Event", "id": "g", "title": "u"},
        (False, "inconclusive", None),
    ),
    (
        "named id of an untyped result",
        {"ids": {"chunk_id": "A"}},
        {"ids": {"chunk_id": "A"}, "title": "t"},
        (True, "named_id", None),
    ),
    (
        "one value of a named id in common",
        {"entity_type": "Wiki", "ids": {"chunk_id": ["A", "B"]}},
        {"ids": {"chunk_id": ["B", "C"]}},
        (True, "named_id", None),
    ),
    (
        "case of a named id",
        {"ids": {"chunk_id": "A"}},
        {"ids": {"chunk_id": "a"}},
        (False, "inconclusive", None),
    ),
    (
        "another named id differs",
        {"ids": {"chunk_id": "A", "page": "1"}},
        {"ids": {"chunk_id": "A", "page": "2"}},
        (False, "inconclusive", None),
    ),
    (
        "named id beside a field that differs",
        {"ids": {"chunk_id": "A"}, "title": "t"},
        {"ids": {"chunk_id": "A"}, "title": "u"},
        (False, "fields", None),
    ),
    (
        "named id beside comparable urls",
        {"ids": {"chunk_id": "A"}, "url": "//x?a=1"},
        {"ids": {"chunk_id": "A"}, "url": "//x?a=2"},
        (False, "inconclusive", None),
    ),
    (
        "named id that some type lists as container",
        {"ids": {"site_id": "A"}},
        {"ids": {"site_id": "A"}},
        (False, "inconclusive", None),
    ),
    (
        "named id of a type with rules of its own",
        {"entity_type": "File", "ids": {"chunk_id": "A"}},
        {"ids": {"chunk_id": "A"}},
        (False, "inconclusive", None),
    ),
    (
        "generic id before named id",
        {"id": "g", "ids": {"chunk_id": "A"}},
        {"id": "g", "ids": {"chunk_id": "A"}},
        (True, "generic_id", None),
    ),
    ("definitive id hides the generic one", {"id": "g", "ids": {"doc_id": "1"}}, {"id": "g"}, None),
    (
        "definitive id of another type does not hide it",
        {"id": "g", "ids": {"file_id": "1"}},
        {"id": "g"},
        (True, "generic_id", None),
    ),
    (
        "identical",
        make("File", author="a", candidate=False, file_type="t"),
        make("File", author="A", candidate=False, file_type=["t"]),
        (True, "identical", None),
    ),
    (
        "identical except for the type",
        make("File", author="a", file_type="t"),
        make(None, author="a", file_type="t"),
        (False, "inconclusive", None),
    ),
    (
        "one attribute is not enough",
        make("Event", candidate=False, subject="t"),
        make("Event", candidate=False, subject="t"),
        (False, "inconclusive", None),
    ),
    (
        "ids that only overlap are not identical",
        make("Event", {"x": ["1", "2"]}, subject="t"),
        make("Event", {"x": ["1"]}, subject="t"),
        (False, "inconclusive", None),
    ),
    # Keys
    ("nothing in common", {"author": "a"}, {"author": "a"}, None),
    (
        "no evidence at all",
        {"reference_id": "turn1search3"},
        {"reference_id": "turn1search3"},
        None,
    ),
    ("short snippet is no key", {"snippet": "s" * 49}, {"snippet": "s" * 49}, None),
    ("long snippet", {"snippet": "s" * 50}, {"snippet": "S" * 50}, (True, "fields", 1)),
    ("length after NFKC", {"snippet": "\ufb01" * 25}, {"snippet": "fi" * 25}, (True, "fields", 1)),
    (
        "only the first 100 characters of a snippet are a key",
        {"snippet": "s" * 100 + "x"},
        {"snippet": "s" * 100 + "y"},
        (False, "fields", None),
    ),
    (
        "100th character of a snippet is in the key",
        {"snippet": "s" * 99 + "x"},
        {"snippet": "s" * 99 + "y"},
        None,
    ),
    (
        "only the first 500 characters of content are a key",
        {"content": "s" * 500 + "x"},
        {"content": "s" * 500 + "y"},
        (False, "fields", None),
    ),
    (
        "500th character of content is in the key",
        {"content": "s" * 499 + "x"},
        {"content": "s" * 499 + "y"},
        None,
    ),
    (
        "only the first 100 characters of a title are a key",
        {"title": "s" * 100 + "x"},
        {"title": "s" * 100 + "y"},
        (False, "fields", None),
    ),
    (
        "whole subject",
        {"fields": {"subject": "s" * 100 + "x"}},
        {"fields": {"subject": "s" * 100}},
        None,
    ),
    (
        "start and end",
        make("Event", candidate=False, start="2024-01-01T10:00Z", end="b"),
        make("Event", candidate=False, start="2024-01-01T11:00+01:00", end=" B", author="a"),
        (False, "inconclusive", None),
    ),
    (
        "start alone",
        make("Event", candidate=False, start="a"),
        make("Event", candidate=False, start="a", author="a"),
        None,
    ),
    (
        "title inside fields is ignored",
        {"fields": {"title": "t"}, "id": "g"},
        {"fields": {"title": "u"}, "id": "g"},
        (True, "generic_id", None),
    ),
    ("subject is not a title", {"title": "t"}, {"fields": {"subject": "t"}}, None),
    (
        "blank values are absent",
        {"id": "g", "ids": {"doc_id": ["", " "]}, "url": " ", "snippet": "\n"},
        {"id": "g", "url": None, "fields": {"author": []}},
        (True, "generic_id", None),
    ),
]
