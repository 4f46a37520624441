"""The vocabularies of `tests.adversarial`: three values of each attribute, in many spellings.

Spellings of one value are equal by SPEC 4.1, or deliberately almost equal: ids that differ only in
case, texts that differ only after the part that makes the key.
"""


def full_width(text):
    """ASCII letters and digits as full-width characters, which NFKC maps back."""
    return "".join(chr(ord(letter) + 0xFEE0) for letter in text)


IDS = (
    (
        "0A1B2C3D-4e5f-6789-ABCD-ef0123456789",
        "0a1b2c3d-4e5f-6789-abcd-ef0123456789",
        " 0A1B2C3D-4E5F-6789-ABCD-EF0123456789\n",
    ),
    ("Ann@Example.org", "ann@example.org", " ANN@EXAMPLE.ORG "),
    ("Doc-7", "Doc-7", "Doc-7", "doc-7", "Doc-7 "),
)
DEFINITIVE_IDS = {
    "File": ("file_id", "unique_id"),
    "Event": ("event_id",),
    "EmailMessage": ("email_url",),
    "TeamsMessage": ("item_id",),
    "People": ("alias", "upn", "email"),
    "External": ("artifact_id",),
    "MeetingTranscript": ("event_id",),
    "unknown": ("doc_id",),
    "untyped": ("doc_id",),
}
CONTAINER_IDS = {"File": ("site_id", "web_id", "list_id"), "Event": ("original_id",)}
FOREIGN_IDS = ("thread_id", "site_id", "file_id", "doc_id")
ALL_IDS = {
    *FOREIGN_IDS,
    *(name for names in DEFINITIVE_IDS.values() for name in names),
    *(name for names in CONTAINER_IDS.values() for name in names),
}
TYPE_SPELLINGS = {
    "File": ("File", "file", " FILE "),
    "Event": ("Event", "CalendarEvent", "calendarevent"),
    "EmailMessage": ("EmailMessage", "Email", "EMAIL"),
    "TeamsMessage": ("TeamsMessage", "teamsmessage"),
    "People": ("People", "Person", "PeopleInferenceAnswer"),
    "External": ("External", "GraphConnector", "external"),
    "MeetingTranscript": ("MeetingTranscript", "meetingTranscript"),
    "unknown": ("WebPage", "webpage ", "WEBPAGE", "WebPage", "Wiki"),
    "untyped": (None, "", " "),
}

PEOPLE = (
    ("Ann Lee", "ann  lee", "ANN LEE ", "Ann\u00a0Lee"),
    ("Straße", "STRASSE", "strasse"),
    ("Bo ﬁsher", "bo fisher", "Bo\tFisher"),
)
WORDS = (
    ("Budget 2024", "budget  2024", f" BUDGET {full_width('2024')}"),
    ("Plan", full_width("PLAN"), "plan\n"),
    ("report.docx", "Report.DOCX"),
)
TIMES = (
    (
        "2024-03-01T10:00:00Z",
        "2024-03-01T12:00:00+02:00",
        "2024-03-01 10:00:00z",
        "2024-03-01T10:00:00",
        "20240301T100000Z",
        "2024-W09-5T10:00:00.000-00:00",
    ),
    ("2024-03-01", "2024-03-01T00:00:00Z", "2024-02-29T23:00-01:00", "2024-03-01T00:00:00.000000"),
    ("next  Friday", "NEXT FRIDAY", "Next Friday "),
)
ODD_TIMES = (
    ("2024-13-01T00:00:00Z", "2024-13-01t00:00:00z"),
    ("0001-01-01T00:00:00+14:00",),
    ("1709287200000", full_width("1709287200000")),
)
FIELDS = {
    "author": PEOPLE,
    "last_modified_by": PEOPLE,
    "file_name": WORDS,
    "file_type": (("docx", "DOCX"), ("pptx", "PPTX "), ("pdf",)),
    "last_modified_time": TIMES,
    "start": TIMES,
    "end": TIMES,
    "date_time_received": TIMES,
    "created": ODD_TIMES,
    "organizer_email": IDS,
    "subject": WORDS,
    "from": PEOPLE,
    "to": PEOPLE,
    "participants": PEOPLE,
    "display_name": PEOPLE,
    "department": WORDS,
    "company_name": WORDS,
    "office_location": WORDS,
    "plugin_id": WORDS,
    "plugin_type": WORDS,
}
# The fields that decide most come first, since a view often keeps only its first few.
RULE_FIELDS = {
    "File": ("file_name", "author", "file_type", "last_modified_by", "last_modified_time"),
    "Event": ("start", "end", "subject", "organizer_email"),
    "EmailMessage": ("from", "to", "subject", "date_time_received"),
    "TeamsMessage": ("from", "participants", "to", "subject"),
    "People": ("display_name", "department", "company_name", "office_location"),
    "External": ("display_name", "plugin_id", "plugin_type"),
    "MeetingTranscript": ("start", "end", "subject"),
    "unknown": ("author", "file_name", "department", "created", "start"),
    "untyped": ("author", "subject", "file_name", "display_name"),
}

LENGTHS = (5, 5, 49, 50, 51, 99, 100, 101, 120, 499, 500, 501, 520)


def long_text(random, name, number, length):
    """A text of about the given normalised length; its value differs in the last character.

    Above 100 characters (title, snippet) or 500 (content), two values share their key.
    """
    body = (f"{name} of fine glass " * 60)[: length - 1]
    text = body.rstrip().ljust(length - 1, "-") + "xyz"[number]
    spelling = random.random()
    if spelling < 0.6:
        return text
    if spelling < 0.7:
        return text.upper()
    if spelling < 0.8:
        return "  " + text.replace(" ", " \n") + "\t"
    if spelling < 0.9:
        return text.replace(" ", "\u00a0").replace("o", full_width("o"))
    if spelling < 0.95:
        return text.replace("fi", "ﬁ").replace("ss", "ß")
    if spelling < 0.98:
        return text[:-1] + "q"
    return random.choice(["", " ", None])


# (host, spellings of the path), or a string that is an opaque host or odd in another way.
URLS = (
    ("example.org", ("/a/b", "/a/b/", "/a/b//", "/a/%62", "/a%2Fb")),
    ("example.org", ("/a/B", "/a/%42", "/a/B/")),
    ("example.org:8080", ("", "/", "//")),
    ("bücher.example", ("/%C3%BC", "/ü", "/ü/")),
    ("[2001:db8::1]", ("/x", "/x/")),
    "mailto:ann@example.org",
    "im:ann@example.org",
    "http://[broken/a",
    "http://example.org:port/a",
    "http://example.org:99999/a",
    "localhost:8080/a",
    "example.org/go?to=http://example.org/a/b",
    "//example.org/a/b",
)
QUERIES = (
    ("", "?", "?utm_source=x", "?web=1&TOKEN=q", "#top", "?e=#", "?UTM_Medium=y&d=1"),
    ("?id=1", "?ID=1", "?id=1&session=z", "?gclid=3&id=1#part"),
    ("?id=2", "?id=2&id=2", "?other=&id=2"),
    ("?page=3", "?page=3&v=", "?PAGE=3&version=1", "?q=%C3%BC&page=3"),
)


def spell_url(random, host, paths, query):
    """A random spelling of a URL."""
    scheme = random.choice(["https://", "http://", "HTTPS://", "//", ""])
    user = random.choice(["", "", "", "me@", "me:pw@"]) if scheme else ""
    www = "" if host.startswith("[") else random.choice(["", "", "www.", "WWW."])
    port = "" if ":8080" in host else random.choice(["", "", ":80", ":443", ":0080", ":"])
    host = random.choice([host, host.upper()])
    return f"{scheme}{user}{www}{host}{port}{random.choice(paths)}{random.choice(QUERIES[query])}"


GAIN_VOCABULARIES = (
    (None, 0, 1, 2, 2, 3, 4),
    (None, 0, 1, 2, 2, 3, 4),
    (2,),
    (0, 1),
    (None, 0, 0, 4),
)
EQUAL_TIMESTAMPS = (
    (1_714_557_600_000, "2024-05-01T10:00:00Z", "2024-05-01T12:00:00+02:00"),
    (1_714_557_600_123, "2024-05-01T10:00:00.123", "2024-05-01T12:00:00.123+02:00"),
    (1_714_557_601_000, "2024-05-01T10:00:01+00:00"),
)
TIMESTAMPS = (None, *(spelling for spellings in EQUAL_TIMESTAMPS for spelling in spellings))
# Groups of attributes that a conversation may be limited to, to reach rare steps.
FOCUSES = (
    ["fields"],
    ["fields", "title", "snippet"],
    ["fields", "content"],
    ["container", "fields"],
    ["url", "snippet"],
    ["url", "content"],
    ["url", "fields"],
)
ATTRIBUTES = (
    {"arm": "a", "market": "en-us"},
    {"arm": "b"},
    {"arm": "", "market": "  "},
    {"market": "de-de", "model": "m"},
    {},
    None,
)
