"""Results made from an earlier document: copies (SPEC 4), and near misses, which are not copies.

Each function makes one kind; None if the documents lack the necessary fields.
"""

from __future__ import annotations

from collections.abc import Callable

from goodgain.pipeline.sample.documents import (
    DEFINITIVE_IDS,
    Document,
    new_document,
    opaque_id,
    without,
)
from goodgain.pipeline.sample.scene import OFFSETS, Scene, in_offset

_ALIASES = {
    "EmailMessage": ("Email",),
    "People": ("Person", "PeopleInferenceAnswer"),
    "Event": ("CalendarEvent",),
    "External": ("GraphConnector",),
    "File": ("file",),
    "TeamsMessage": ("teamsmessage",),
}
_TRACKING = (
    "utm_source=newsletter",
    "utm_campaign=spring&utm_medium=email",
    "web=1",
    "gclid=EAIaIQobChMI",
    "session=8f2e",
)
# Enough fields of each type to decide without ids, URL and texts (SPEC 4.3, the table).
_CLAUSE_TYPES = ("File", "Event", "EmailMessage", "TeamsMessage", "People", "MeetingTranscript")


def _definitive(document: Document) -> str | None:
    ids = document.get("ids", {})
    wanted = DEFINITIVE_IDS[document.get("entity_type")]
    return next((name for name in wanted if name in ids), None)


def _exact(_: Scene, document: Document) -> Document:
    return document


def _new_title(scene: Scene, document: Document) -> Document | None:
    """Same definitive id; another title, and a passage for another query."""
    if _definitive(document) is None:
        return None
    return {**document, "title": scene.author.title(), "snippet": scene.author.snippet()}


def _url_variant(scene: Scene, document: Document) -> Document | None:
    """Same URL except for tracking, `www.`, port or fragment; no ids, another passage."""
    if "url" not in document:
        return None
    draw = scene.draw
    scheme, rest = document["url"].split("://", 1)
    host, slash, path = rest.partition("/")
    way = draw.below(4)
    if way == 0:
        host = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
    elif way == 1:
        host = f"{host.title()}:443"
    elif way == 2:
        path += f"#section-{draw.between(1, 9)}"
    else:
        path += ("&" if "?" in path else "?") + draw.pick(_TRACKING)
    copy = without(document, "ids")
    return copy | {
        "id": opaque_id(draw),
        "url": f"{scheme}://{host}{slash}{path}",
        "snippet": scene.author.snippet(),
    }


def _other_query(scene: Scene, document: Document) -> Document | None:
    """Same URL except for a query parameter that does not identify; the same passage."""
    if "url" not in document or "snippet" not in document:
        return None
    url = document["url"]
    parameter = scene.draw.pick(("lang=en", "source=search", f"rank={scene.draw.between(1, 20)}"))
    copy = without(document, "ids")
    return copy | {"url": f"{url}{'&' if '?' in url else '?'}{parameter}"}


def _other_generic_id(scene: Scene, document: Document) -> Document | None:
    """Another generic id for a document without a definitive one."""
    if _definitive(document) is not None or "url" not in document:
        return None
    return {**document, "id": opaque_id(scene.draw)}


def _generic_id_only(_: Scene, document: Document) -> Document | None:
    """Only the generic id, for a document without a definitive one."""
    if "id" not in document or _definitive(document) is not None:
        return None
    return {name: document[name] for name in ("entity_type", "id", "gain") if name in document}


def _snippet_only(_: Scene, document: Document) -> Document | None:
    """Same passage and fields; ids and URL are missing."""
    if "snippet" not in document:
        return None
    return without(document, "id", "ids", "url", "content")


def _fields_only(_: Scene, document: Document) -> Document | None:
    """Same title and fields; ids, URL and texts are missing."""
    kind = document.get("entity_type")
    if kind not in _CLAUSE_TYPES:
        return None
    if kind == "Event" and "organizer_email" not in document["fields"]:
        return None
    return without(document, "id", "ids", "url", "snippet", "content")


def _guid_case(scene: Scene, document: Document) -> Document | None:
    """Same definitive GUID, in upper case."""
    name = _definitive(document)
    if name not in ("file_id", "unique_id"):
        return None
    ids = {key: value.upper() for key, value in document["ids"].items()}
    return {**document, "ids": ids, "title": scene.author.title()}


def _many_ids(scene: Scene, document: Document) -> Document | None:
    """A list of ids, one of which is the document's."""
    name = _definitive(document)
    if name is None:
        return None
    ids = {**document["ids"], name: [scene.draw.guid(), document["ids"][name]]}
    return {**document, "ids": ids, "snippet": scene.author.snippet()}


def _time_offset(scene: Scene, document: Document) -> Document | None:
    """Times in another offset; no URL, and no ids except those of containers."""
    if "snippet" not in document:
        return None
    fields = dict(document["fields"])
    times = [
        name
        for name in ("start", "end", "date_time_received", "last_modified_time")
        if name in fields
    ]
    if not times:
        return None
    minutes = scene.draw.pick(OFFSETS)
    for name in times:
        fields[name] = in_offset(fields[name], minutes)
    wanted = DEFINITIVE_IDS[document.get("entity_type")]
    ids = {name: value for name, value in document.get("ids", {}).items() if name not in wanted}
    return without(document, "id", "url") | {"fields": fields, "ids": ids}


def _type_alias(scene: Scene, document: Document) -> Document | None:
    """Another name of the entity type."""
    names = _ALIASES.get(document.get("entity_type", ""))
    if names is None:
        return None
    return {**document, "entity_type": scene.draw.pick(names)}


def _type_missing(_: Scene, document: Document) -> Document | None:
    """No entity type, otherwise the same."""
    if "entity_type" not in document or "id" not in document:
        return None
    return without(document, "entity_type")


# How often each way is tried; if a document lacks the necessary fields, the copy is exact.
_WAYS: tuple[tuple[float, tuple[str, Callable[[Scene, Document], Document | None]]], ...] = (
    (0.40, ("exact", _exact)),
    (0.12, ("new_title", _new_title)),
    (0.10, ("url_variant", _url_variant)),
    (0.06, ("other_query", _other_query)),
    (0.05, ("other_generic_id", _other_generic_id)),
    (0.01, ("generic_id_only", _generic_id_only)),
    (0.06, ("snippet_only", _snippet_only)),
    (0.05, ("fields_only", _fields_only)),
    (0.04, ("guid_case", _guid_case)),
    (0.03, ("many_ids", _many_ids)),
    (0.04, ("time_offset", _time_offset)),
    (0.02, ("type_alias", _type_alias)),
    (0.02, ("type_missing", _type_missing)),
)
COPIES = tuple(name for _, (name, _) in _WAYS)


def copy_of(scene: Scene, document: Document) -> tuple[str, Document]:
    """The way (a name from `COPIES`) and the copy of the document."""
    name, make_copy = scene.draw.weighted(_WAYS)
    copy = make_copy(scene, document)
    return ("exact", document) if copy is None else (name, copy)


def _same_title(_: Scene, earlier: Document, new: Document) -> Document | None:
    return {**new, "title": earlier["title"]} if "title" in earlier else None


def _same_snippet(_: Scene, earlier: Document, new: Document) -> Document | None:
    """The same boilerplate passage, but another definitive id."""
    if "snippet" not in earlier or "ids" not in earlier or "ids" not in new:
        return None
    return {**new, "snippet": earlier["snippet"]}


def _same_generic_id(_: Scene, earlier: Document, new: Document) -> Document | None:
    """The same generic id by collision; the URLs differ."""
    if "id" not in earlier or "url" not in earlier or "url" not in new:
        return None
    return {**new, "id": earlier["id"]}


def _identity_parameter(scene: Scene, earlier: Document, new: Document) -> Document | None:
    """The same host and path, but another id in the URL's query, so another document."""
    if "url" not in earlier:
        return None
    url = earlier["url"]
    names = ("sourcedoc=%7B", "itemid=", "id=")
    lower = url.lower()
    name = next((name for name in names if f"?{name}" in lower), None)
    if name is None:
        return None
    begin = lower.index(f"?{name}") + 1
    end = url.find("&", begin)
    rest = url[end:] if end > 0 else ""
    value = f"{scene.draw.guid().upper()}%7D" if name.endswith("%7B") else scene.draw.digits(7)
    return without(new, "ids", "id") | {"url": f"{url[:begin]}{name}{value}{rest}"}


def _other_page_state(scene: Scene, earlier: Document, new: Document) -> Document | None:
    """The same host and path, but another page number in the URL's query, and another passage."""
    if "url" not in earlier or "snippet" not in earlier or "snippet" not in new:
        return None
    url = earlier["url"]
    return without(new, "ids", "id") | {
        "url": f"{url}{'&' if '?' in url else '?'}page={scene.draw.between(2, 99)}"
    }


def _series(scene: Scene, earlier: Document, new: Document) -> Document | None:
    """Another meeting of a series: the same title, organizer and series, but other times and id."""
    if earlier.get("entity_type") != "Event" or "original_id" not in earlier.get("ids", {}):
        return None
    start, end = scene.slot(30)
    ids = {**earlier["ids"], "event_id": f"AAMkAGI{scene.draw.token(40)}="}
    fields = {**earlier["fields"], "start": start, "end": end}
    copy = {**without(new, "url"), "ids": ids, "fields": fields, "title": earlier["title"]}
    return copy | {"id": opaque_id(scene.draw)}


def _title_only(_: Scene, earlier: Document, new: Document) -> Document | None:
    """Only the title in common, which is too little to decide (inconclusive)."""
    if earlier.get("entity_type") not in ("File", "TeamsMessage", "MeetingTranscript"):
        return None
    copy = {name: new[name] for name in ("entity_type", "gain") if name in new}
    return copy | {"title": earlier["title"], "id": new["id"]}


def _other_type(_: Scene, earlier: Document, new: Document) -> Document | None:
    """The same texts on a document of another type."""
    if "snippet" not in earlier or "entity_type" not in earlier:
        return None
    other = "MeetingTranscript" if earlier["entity_type"] == "Event" else "Event"
    return without(new, "ids", "fields", "url") | {
        "entity_type": other,
        "title": earlier["title"],
        "snippet": earlier["snippet"],
    }


_MAKERS: dict[str, Callable[[Scene, Document, Document], Document | None]] = {
    "same_title": _same_title,
    "same_snippet": _same_snippet,
    "same_generic_id": _same_generic_id,
    "identity_parameter": _identity_parameter,
    "other_page_state": _other_page_state,
    "series": _series,
    "title_only": _title_only,
    "other_type": _other_type,
}
NEAR_MISSES = tuple(_MAKERS)


def near_miss_of(
    scene: Scene, earlier: Document, unlabelled_share: float
) -> tuple[str, Document] | None:
    """How a new document resembles the earlier one (a name from `NEAR_MISSES`), and the document.

    None if the earlier document lacks the necessary fields. A near miss may lack ids or fields, so
    it must not be passed to `copy_of`.
    """
    entity_type = earlier.get("entity_type")
    name = scene.draw.pick(NEAR_MISSES)
    near_miss = _MAKERS[name](scene, earlier, new_document(scene, entity_type, unlabelled_share))
    return None if near_miss is None else (name, near_miss)
