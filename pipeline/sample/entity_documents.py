"""A new document of each entity type, as connectors return them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from goodgain.pipeline.sample.draw import Draw
from goodgain.pipeline.sample.scene import Scene
from goodgain.pipeline.sample.text import words

Document = dict[str, Any]
_FILE_TYPES = ("docx", "xlsx", "pptx", "pdf", "docx", "md", "one")


def opaque_id(draw: Draw) -> str:
    """A generic id: opaque, and different for each result."""
    return f"AAMk{draw.token(28)}"


def _file(scene: Scene) -> Document:
    draw = scene.draw
    site = draw.pick(scene.sites)
    title = scene.author.title()
    extension = draw.pick(_FILE_TYPES)
    name = f"{title.replace(' ', '_')}.{extension}"
    ids: dict[str, Any] = {"site_id": site.site_id}
    roll = draw.random()
    if roll < 0.85:
        ids["file_id"] = draw.guid()
    if 0.3 < roll < 0.95:
        ids["unique_id"] = draw.guid()
    if draw.chance(0.5):
        ids |= {"web_id": site.web_id, "list_id": site.list_id}
    root = f"https://{scene.tenant}.sharepoint.example/sites/{site.name}"
    if draw.chance(0.2):
        source = f"sourcedoc=%7B{draw.guid().upper()}%7D"
        url = f"{root}/_layouts/15/Doc.aspx?{source}&file={quote(name)}&action=default"
    else:
        url = f"{root}/Shared%20Documents/{draw.digits(5)}/{quote(name)}"
    author = scene.person().name
    fields: dict[str, Any] = {
        "file_name": name,
        "file_type": extension,
        "author": [author, scene.person().name] if draw.chance(0.15) else author,
        "last_modified_time": scene.past_time(400),
    }
    if draw.chance(0.7):
        fields["last_modified_by"] = scene.person().name
    return {"id": opaque_id(draw), "ids": ids, "url": url, "title": title, "fields": fields}


def _event(scene: Scene) -> Document:
    draw = scene.draw
    start, end = scene.slot(30)
    organizer = scene.person()
    title = scene.author.title()
    ids = {"event_id": f"AAMkAGI{draw.token(40)}="}
    if draw.chance(0.3):
        ids["original_id"] = draw.guid()
    fields: dict[str, Any] = {
        "start": start,
        "end": end,
        "attendees": scene.addresses(6),
        "location": draw.pick(words().offices),
    }
    if draw.chance(0.9):
        fields |= {"organizer_email": organizer.email, "organizer_name": organizer.name}
    if draw.chance(0.5):
        fields["subject"] = title
    document = {"id": opaque_id(draw), "ids": ids, "title": title, "fields": fields}
    if draw.chance(0.7):
        document["url"] = f"https://outlook.office.example/calendar/item/{draw.token(44)}"
    return document


def _email(scene: Scene) -> Document:
    draw = scene.draw
    subject = ("RE: " if draw.chance(0.4) else "") + scene.author.title()
    item = draw.token(48)
    url = f"https://outlook.office.example/owa/?ItemID={item}&exvsurl=1&viewmodel=ReadMessageItem"
    document: Document = {
        "id": opaque_id(draw),
        "title": subject,
        "fields": {
            "from": scene.person().email,
            "to": scene.addresses(5),
            "subject": subject,
            "has_attachments": "true" if draw.chance(0.3) else "false",
        },
    }
    if draw.chance(0.9):
        document["fields"]["date_time_received"] = scene.past_time(120)
    if draw.chance(0.8):
        document["ids"] = {"email_url": url}
    if draw.chance(0.8):
        document["url"] = url
    return document


def _teams_message(scene: Scene) -> Document:
    draw = scene.draw
    thread = f"19:{draw.guid().replace('-', '')}@thread.example"
    message = str(scene.begins - draw.below(90 * 86_400_000))
    people = [scene.person().name for _ in range(draw.between(2, 5))]
    title = scene.author.title()
    fields: dict[str, Any] = {"from": people[0], "to": people[1:], "participants": people}
    if draw.chance(0.4):
        fields["subject"] = title
    document: Document = {
        "id": opaque_id(draw),
        "url": f"https://teams.example/l/message/{thread}/{message}?tenantId={scene.tenant_id}",
        "title": title,
        "fields": fields,
    }
    if draw.chance(0.85):
        document["ids"] = {"item_id": f"{thread};messageid={message}"}
    return document


def _people(scene: Scene) -> Document:
    draw = scene.draw
    person = scene.person()
    # A number distinguishes namesakes, since each call makes another person.
    alias = f"{person.alias}{draw.digits(4)}"
    address = f"{alias}@{scene.tenant}.example"
    office = draw.pick(words().offices)
    document: Document = {
        "id": draw.guid(),
        "title": f"{person.name} ({draw.pick(words().departments)}, {scene.author.topic}, {alias})",
        "fields": {
            "display_name": person.name,
            "department": draw.pick(words().departments),
            "company_name": scene.tenant.title(),
            "office_location": f"{office}-{draw.digits(3)}",
            "job_title": f"{draw.pick(words().adjectives)} {draw.pick(words().kinds)} Lead",
        },
    }
    ids = {"alias": alias, "upn": address, "email": address.upper()}
    wanted = draw.pick_weighted(((0.4, 3), (0.3, 2), (0.2, 1), (0.1, 0)))
    if wanted:
        document["ids"] = dict(list(ids.items())[:wanted])
    if draw.chance(0.6):
        document["url"] = f"https://people.{scene.tenant}.example/profile/{alias}"
    return document


def _external(scene: Scene) -> Document:
    draw = scene.draw
    plugin, plugin_type, display_name = draw.pick(words().plugins)
    key = f"{plugin[:3].upper()}-{draw.digits(6)}"
    document: Document = {
        "title": f"[{key}] {scene.author.title()}"[:80].rstrip(),
        "fields": {
            "plugin_id": plugin,
            "plugin_type": plugin_type,
            "display_name": display_name,
            "state": "open" if draw.chance(0.4) else "closed",
        },
    }
    if draw.chance(0.06):
        return document
    document["id"] = draw.guid()
    if draw.chance(0.8):
        document["url"] = f"https://{plugin}.{scene.tenant}.example/browse/{key}"
    if draw.chance(0.8):
        document["ids"] = {"artifact_id": f"{plugin}/{draw.guid()}"}
    return document


def _transcript(scene: Scene) -> Document:
    draw = scene.draw
    start, end = scene.slot(60)
    title = scene.author.title()
    document: Document = {
        "id": opaque_id(draw),
        "url": f"https://{scene.tenant}.sharepoint.example/stream/{draw.guid()}",
        "title": title,
        "fields": {"start": start, "end": end, "speakers": scene.addresses(4)},
    }
    if draw.chance(0.85):
        document["ids"] = {"event_id": f"AAMkAGI{draw.token(40)}="}
    return document


def _web_page(scene: Scene) -> Document:
    draw = scene.draw
    host = draw.pick(words().web_hosts)
    title = scene.author.title()
    slug = "".join(letter if letter.isalnum() else "-" for letter in title.lower())
    url = f"https://{host}/{draw.pick(words().web_sections)}/{quote(slug)}"
    if draw.chance(0.25):
        url += f"?id={draw.digits(6)}"
    document: Document = {
        "id": draw.token(16),
        "url": url,
        "title": title,
        "fields": {
            "site_name": host.removeprefix("www."),
            "language": scene.market[:2],
            "published": scene.past_time(2_000)[:10],
            "author": f"{draw.pick(words().first_names)} {draw.pick(words().last_names)}",
        },
    }
    if draw.chance(0.4):
        document["ids"] = {"doc_id": f"web-{draw.token(20)}"}
    return document


def _whiteboard(scene: Scene) -> Document:
    draw = scene.draw
    return {
        "id": draw.guid(),
        "ids": {"whiteboard_id": draw.guid()},
        "url": f"https://whiteboard.{scene.tenant}.example/board/{draw.guid()}",
        "title": scene.author.title(),
        "fields": {"owner": scene.person().name, "created": scene.past_time(200)},
    }


MAKERS: dict[str | None, Callable[[Scene], Document]] = {
    "File": _file,
    "Event": _event,
    "EmailMessage": _email,
    "TeamsMessage": _teams_message,
    "People": _people,
    "External": _external,
    "MeetingTranscript": _transcript,
    "Whiteboard": _whiteboard,
    None: _web_page,
}
