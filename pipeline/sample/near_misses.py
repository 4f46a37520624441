"""Results that nearly repeat an earlier document, but are others.

Each function makes one kind; None if the documents lack the necessary fields.
"""

from __future__ import annotations

from collections.abc import Callable

from goodgain.pipeline.sample.documents import draw_document, drop_fields
from goodgain.pipeline.sample.entity_documents import Document, opaque_id
from goodgain.pipeline.sample.scene import Scene


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
    return drop_fields(new, "ids", "id") | {"url": f"{url[:begin]}{name}{value}{rest}"}


def _other_page_state(scene: Scene, earlier: Document, new: Document) -> Document | None:
    """The same host and path, but another page number in the URL's query, and another passage."""
    if "url" not in earlier or "snippet" not in earlier or "snippet" not in new:
        return None
    url = earlier["url"]
    return drop_fields(new, "ids", "id") | {
        "url": f"{url}{'&' if '?' in url else '?'}page={scene.draw.between(2, 99)}"
    }


def _series(scene: Scene, earlier: Document, new: Document) -> Document | None:
    """Another meeting of a series: the same title, organizer and series, but other times and id."""
    if earlier.get("entity_type") != "Event" or "original_id" not in earlier.get("ids", {}):
        return None
    start, end = scene.slot(30)
    ids = {**earlier["ids"], "event_id": f"AAMkAGI{scene.draw.token(40)}="}
    fields = {**earlier["fields"], "start": start, "end": end}
    copy = {**drop_fields(new, "url"), "ids": ids, "fields": fields, "title": earlier["title"]}
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
    return drop_fields(new, "ids", "fields", "url") | {
        "entity_type": other,
        "title": earlier["title"],
        "snippet": earlier["snippet"],
    }


_WAYS: tuple[Callable[[Scene, Document, Document], Document | None], ...] = (
    _same_title,
    _same_snippet,
    _same_generic_id,
    _identity_parameter,
    _other_page_state,
    _series,
    _title_only,
    _other_type,
)


def draw_near_miss(scene: Scene, earlier: Document, unlabelled_share: float) -> Document | None:
    """A new document that resembles the earlier one.

    None if the earlier document lacks the necessary fields. A near miss may lack ids or fields, so
    it must not be passed to `copy_of`.
    """
    make_near_miss = scene.draw.pick(_WAYS)
    new = draw_document(scene, earlier.get("entity_type"), unlabelled_share)
    return make_near_miss(scene, earlier, new)
