"""Normal forms of texts, times, ids, URLs and type names (SPEC 4.1)."""

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, unquote, urlsplit

TIME_FIELDS = {"start", "end", "date_time_received", "last_modified_time"}

IGNORED_PARAMETERS = {
    "web",
    "preview",
    "view",
    "action",
    "auth",
    "token",
    "session",
    "d",
    "e",
    "cid",
    "wdorigin",
    "wdprevioussession",
    "wdprevioussessionid",
    "gclid",
    "fbclid",
    "msclkid",
    "mc_cid",
    "mc_eid",
}

GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
PORT = re.compile(r"[0-9]+([/?#]|$)")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def as_list(value):
    """The values as a list; a plain string is one value, null is none."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def text(value):
    """The normalised text; empty when absent."""
    folded = unicodedata.normalize("NFKC", value or "").casefold()
    return re.sub(r"\s+", " ", folded).strip()


def instant(value):
    """Microseconds since 1970 UTC of an ISO 8601 time; None for any other text."""
    value = value.strip()
    if value[-1:] in ("Z", "z"):
        value = value[:-1] + "+00:00"
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return (parsed - EPOCH) // timedelta(microseconds=1)


def field_value(name, value):
    """One value of a field as a string in normal form; empty when absent."""
    microseconds = instant(value or "") if name in TIME_FIELDS else None
    return text(value) if microseconds is None else f"instant {microseconds}"


def identifier(value):
    """One id in normal form; empty when absent."""
    trimmed = (value or "").strip()
    return trimmed.casefold() if GUID.fullmatch(trimmed) or "@" in trimmed else trimmed


def url(value):
    """(host, path, tuple of query pairs), or None when absent."""
    trimmed = (value or "").strip()
    if not trimmed:
        return None
    opaque = (trimmed.casefold(), "", ())
    scheme = SCHEME.match(trimmed)
    if scheme:
        rest = trimmed[scheme.end() :]
        if not rest.startswith("//") and not PORT.match(rest):
            return opaque
    if "://" not in trimmed and not trimmed.startswith("//"):
        trimmed = "//" + trimmed
    try:
        parts = urlsplit(trimmed)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return opaque
    host = host.removeprefix("www.")
    if port not in (None, 80, 443):
        host = f"{host}:{port}"
    path = unquote(parts.path).rstrip("/") or "/"
    return host, path, query_pairs(parts.query)


def query_pairs(query):
    """The sorted (name, value) pairs of a query, without ignored parameters."""
    pairs = [(name.casefold(), value) for name, value in parse_qsl(query, keep_blank_values=True)]
    kept = [
        (name, value)
        for name, value in pairs
        if name not in IGNORED_PARAMETERS and not name.startswith("utm_")
    ]
    return tuple(sorted(kept))
