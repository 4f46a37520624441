"""Results made from an earlier document that are copies of it (SPEC 4).

Each function makes one kind; None if the documents lack the necessary fields.
"""

from __future__ import annotations

from collections.abc import Callable

from goodgain.pipeline.sample.documents import DEFINITIVE_IDS, drop_fields
from goodgain.pipeline.sample.entity_documents import Document, opaque_id
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


def _definitive_id(document: Document) -> str | None:
    ids = document.get("ids", {})
    wanted = DEFINITIVE_IDS[document.get("entity_type")]
    return next((name for name in wanted if name in ids), None)


def _exact(_: Scene, document: Document) -> Document:
    return document


def _new_title(scene: Scene, document: Document) -> Document | None:
    """Same definitive id; another title, and a passage for another query."""
    if _definitive_id(document) is None:
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
    copy = drop_fields(document, "ids")
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
    copy = drop_fields(document, "ids")
    return copy | {"url": f"{url}{'&' if '?' in url else '?'}{parameter}"}


def _other_generic_id(scene: Scene, document: Document) -> Document | None:
    """Another generic id for a document without a definitive one."""
    if _definitive_id(document) is not None or "url" not in document:
        return None
    return {**document, "id": opaque_id(scene.draw)}


def _generic_id_only(_: Scene, document: Document) -> Document | None:
    """Only the generic id, for a document without a definitive one."""
    if "id" not in document or _definitive_id(document) is not None:
        return None
    return {name: document[name] for name in ("entity_type", "id", "gain") if name in document}


def _snippet_only(_: Scene, document: Document) -> Document | None:
    """Same passage and fields; ids and URL are missing."""
    if "snippet" not in document:
        return None
    return drop_fields(document, "id", "ids", "url", "content")


def _fields_only(_: Scene, document: Document) -> Document | None:
    """Same title and fields; ids, URL and texts are missing."""
    kind = document.get("entity_type")
    if kind not in _CLAUSE_TYPES:
        return None
    if kind == "Event" and "organizer_email" not in document["fields"]:
        return None
    return drop_fields(document, "id", "ids", "url", "snippet", "content")


def _guid_case(scene: Scene, document: Document) -> Document | None:
    """Same definitive GUID, in upper case."""
    name = _definitive_id(document)
    if name not in ("file_id", "unique_id"):
        return None
    ids = {key: value.upper() for key, value in document["ids"].items()}
    return {**document, "ids": ids, "title": scene.author.title()}


def _many_ids(scene: Scene, document: Document) -> Document | None:
    """A list of ids, one of which is the document's."""
    name = _definitive_id(document)
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
    return drop_fields(document, "id", "url") | {"fields": fields, "ids": ids}


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
    return drop_fields(document, "entity_type")


# How often each way is tried; if a document lacks the necessary fields, the copy is exact.
_WAYS: tuple[tuple[float, Callable[[Scene, Document], Document | None]], ...] = (
    (0.40, _exact),
    (0.12, _new_title),
    (0.10, _url_variant),
    (0.06, _other_query),
    (0.05, _other_generic_id),
    (0.01, _generic_id_only),
    (0.06, _snippet_only),
    (0.05, _fields_only),
    (0.04, _guid_case),
    (0.03, _many_ids),
    (0.04, _time_offset),
    (0.02, _type_alias),
    (0.02, _type_missing),
)


def copy_of(scene: Scene, document: Document) -> Document:
    """A copy of the document, made in one of the ways."""
    return scene.draw.pick_weighted(_WAYS)(scene, document) or document
