"""Possible outcomes for a pair: the steps of SPEC 4.3, and each type's number of clauses."""

CLAUSES = {
    "File": 2,
    "Event": 3,
    "EmailMessage": 3,
    "TeamsMessage": 2,
    "People": 1,
    "External": 1,
    "MeetingTranscript": 2,
    "default": 2,
}
# Only results under `default` are the same by a named id that its rules do not name.
NAMED_ID = ("default", "named_id", None)
STEPS = ["ids", "url", "url_text", "generic_id", "identical"]
REJECTIONS = ["ids", "url", "url_identity", "url_text", "fields", "inconclusive"]
