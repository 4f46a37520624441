"""Documents of every entity type of SPEC 4.3, as a search tool would return them.

A document is a dict with the names of SPEC 2's Result; fields that a type lacks are absent.
Documents are shared between results, so they must not be changed.
"""

from __future__ import annotations

from goodgain.pipeline.sample.entity_documents import MAKERS, Document
from goodgain.pipeline.sample.scene import Scene

DEFINITIVE_IDS: dict[str | None, tuple[str, ...]] = {
    "File": ("file_id", "unique_id"),
    "Event": ("event_id",),
    "EmailMessage": ("email_url",),
    "TeamsMessage": ("item_id",),
    "People": ("alias", "upn", "email"),
    "External": ("artifact_id",),
    "MeetingTranscript": ("event_id",),
    None: ("doc_id",),
    "Whiteboard": ("doc_id",),
}
_GAINS = ((0.54, 0), (0.23, 1), (0.12, 2), (0.07, 3), (0.04, 4))


def draw_document(scene: Scene, kind: str | None, unlabelled_share: float) -> Document:
    """A new labelled document of this entity type; None is a web page without a type."""
    draw = scene.draw
    document = MAKERS[kind](scene)
    if kind is not None:
        document["entity_type"] = kind
    # Documents without a generic id are cards of a connector, which have no text.
    if "id" in document and draw.random() < 0.95:
        document["snippet"] = scene.author.snippet()
    if "id" in document and draw.random() < 0.2:
        document["content"] = scene.author.content()
    if not draw.chance(unlabelled_share):
        document["gain"] = draw.pick_weighted(_GAINS)
    return document


def drop_fields(document: Document, *names: str) -> Document:
    """A copy of a document without some fields."""
    return {name: value for name, value in document.items() if name not in names}
