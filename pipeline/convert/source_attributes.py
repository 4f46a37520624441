"""Attributes of imported records that say where they come from."""

TRACE_ID, ROOT_SPAN_ID, SESSION_ID = "trace_id", "root_span_id", "session_id"
