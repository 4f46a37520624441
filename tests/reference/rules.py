"""The table of SPEC 4.3 as data, and the lookup of a type's row.

A line of "duplicate if" is a list of requirements (minimum number, names), all of which must hold.
A name that begins with "id:" is a named id, any other a field.
"""

from tests.reference.newer_characters import casefold

FILE = {
    "definitive": ["file_id", "unique_id"],
    "container": ["site_id", "web_id", "list_id"],
    "reject_on": [
        "file_name",
        "file_type",
        "author",
        "last_modified_by",
        "last_modified_time",
        "title",
        "snippet",
        "content",
    ],
    "duplicate_if": [
        [(1, ["snippet", "content"])],
        [
            (1, ["file_name"]),
            (2, ["title", "author", "file_type", "last_modified_by", "last_modified_time"]),
        ],
    ],
}
EVENT = {
    "definitive": ["event_id"],
    "container": ["original_id"],
    "reject_on": ["start", "end", "organizer_email"],
    "duplicate_if": [
        [(1, ["start"]), (1, ["end"]), (1, ["id:original_id"])],
        [
            (1, ["start"]),
            (1, ["end"]),
            (1, ["organizer_email"]),
            (1, ["title", "subject", "snippet", "content"]),
        ],
        [(1, ["start"]), (1, ["end"]), (1, ["title", "subject"]), (1, ["snippet", "content"])],
    ],
}
EMAIL_MESSAGE = {
    "definitive": ["email_url"],
    "container": [],
    "reject_on": ["date_time_received", "from", "to", "subject", "snippet", "content"],
    "duplicate_if": [
        [(1, ["date_time_received"]), (1, ["subject", "from", "to", "snippet", "content"])],
        [(1, ["subject"]), (1, ["snippet", "content"]), (1, ["from", "to"])],
        [(1, ["subject", "snippet", "content"]), (1, ["from"]), (1, ["to"])],
    ],
}
TEAMS_MESSAGE = {
    "definitive": ["item_id"],
    "container": [],
    "reject_on": ["from", "to", "participants", "title", "subject", "snippet", "content"],
    "duplicate_if": [
        [
            (1, ["snippet", "content"]),
            (1, ["subject", "title"]),
            (1, ["from", "to", "participants"]),
        ],
        [(1, ["subject", "title", "snippet", "content"]), (2, ["from", "to", "participants"])],
    ],
}
PEOPLE = {
    "definitive": ["alias", "upn", "email"],
    "container": [],
    "reject_on": ["display_name", "department", "company_name", "office_location"],
    "duplicate_if": [
        [(1, ["display_name"]), (2, ["department", "company_name", "office_location"])],
    ],
}
EXTERNAL = {
    "definitive": ["artifact_id"],
    "container": [],
    "reject_on": ["plugin_id", "plugin_type", "display_name", "snippet", "content"],
    "duplicate_if": [[(1, ["snippet", "content"])]],
}
MEETING_TRANSCRIPT = {
    "definitive": ["event_id"],
    "container": [],
    "reject_on": ["start", "end", "title", "snippet", "content"],
    "duplicate_if": [[(1, ["snippet", "content"])], [(1, ["title"]), (1, ["start", "end"])]],
}
# `default` uses points instead of lines for fields; step 3 of SPEC 4.3 is in
# `verification.default_clause`.
DEFAULT = {"definitive": ["doc_id"], "container": []}

RULES = {
    "File": FILE,
    "Event": EVENT,
    "EmailMessage": EMAIL_MESSAGE,
    "TeamsMessage": TEAMS_MESSAGE,
    "People": PEOPLE,
    "External": EXTERNAL,
    "MeetingTranscript": MEETING_TRANSCRIPT,
    "default": DEFAULT,
}
ALIASES = {
    "email": "EmailMessage",
    "person": "People",
    "peopleinferenceanswer": "People",
    "calendarevent": "Event",
    "graphconnector": "External",
}
CONTAINER_IDS = {name for rule in RULES.values() for name in rule["container"]}
POINTS = {"snippet": 4, "content": 4, "title": 2, "file_name": 2}
POINTS_OF_OTHER_FIELDS = 1
IDENTITY_PARAMETERS = ["id", "itemid", "version", "v", "docid", "sourcedoc"]
PASSAGE_IDS = ["chunk_id", "passage_id", "node_id", "segment_id"]


def canonical_type(entity_type):
    """The type after resolving aliases, its casefolded name if unknown, or None if absent."""
    name = casefold((entity_type or "").strip())
    if not name:
        return None
    if name in ALIASES:
        return ALIASES[name]
    known = {rule_name.casefold(): rule_name for rule_name in RULES if rule_name != "default"}
    return known.get(name, name)


def rule_name_of(canonical):
    """The name of the row that applies to a canonical type (None = untyped)."""
    return canonical if canonical in RULES else "default"
