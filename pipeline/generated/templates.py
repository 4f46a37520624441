"""Write the parameters of the Dataflow templates, which are options; `make generated` calls it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from goodgain.pipeline.settings.option_fields import is_flag, metadata
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.stream_config import StreamConfig

# A template of a stream has some options only, those that its file names; that of a run all but
# these. Gates need published outputs; the runner is fixed and holds no bytes; rules are a file of
# the image.
NOT_IN_TEMPLATES = ("gate", "baseline", "runner", "rules", "max_held_bytes")
_OF_LAUNCHER = ("command", "config")
_SWITCH = "^(true|false)$"
_PATH, _PATHS = "^gs://.+$", "^gs://[^;]+(;gs://[^;]+)*$"
_PATH_METAVARS = ("DIR", "FILE", "PATTERN", "POOL")
_SOURCE = "^pubsub://projects/[^/]+/subscriptions/[^/]+$"
_WITHOUT_EXIT_CODE = (
    "set too_many_rejected in the manifest when more records than this are rejected: a count like "
    "5 or a share like 2%"
)


def run_template(text: str) -> str:
    """The file of the template of a run, up to date: new options are at its end."""
    return _written(text, RunConfig, every=True)


def stream_template(text: str) -> str:
    """The file of the template of a stream, up to date."""
    return _written(text, StreamConfig, every=False)


def _written(text: str, model: type[Settings], every: bool) -> str:
    template = json.loads(text)
    own = {parameter["name"]: parameter for parameter in template["parameters"]}
    options = {
        name: field for name, field in model.model_fields.items() if name not in NOT_IN_TEMPLATES
    }
    named = [name for name in own if name in _OF_LAUNCHER or name in options]
    added = [name for name in options if every and name not in own]
    template["parameters"] = [
        own[name] if name in _OF_LAUNCHER else _parameter(name, options[name])
        for name in (*named, *added)
    ]
    return json.dumps(template, indent=2, ensure_ascii=False) + "\n"


def _parameter(name: str, field: FieldInfo) -> dict[str, Any]:
    help_ = _WITHOUT_EXIT_CODE if name == "max_rejected" else str(field.description)
    if get_origin(field.annotation) is tuple:
        help_ += "; several are separated by semicolons"
    regex = _regex(field)
    return {
        "name": name,
        "label": name.replace("_", " "),
        "helpText": f"{help_[:1].upper()}{help_[1:]}.",
        "isOptional": not field.is_required(),
        "paramType": "TEXT",
        **({"regexes": [regex]} if regex else {}),
    }


def _regex(field: FieldInfo) -> str | None:
    """What the values of a parameter look like; None if anything may be one."""
    metavar = metadata(field)["metavar"]
    if is_flag(field):
        return _SWITCH
    if metavar == "SOURCE":
        return _SOURCE
    if metavar in _PATH_METAVARS:
        return _PATHS if get_origin(field.annotation) is tuple else _PATH
    words = [choice for choice in get_args(field.annotation) if isinstance(choice, str)]
    return f"^({'|'.join(words)})$" if words else None


if __name__ == "__main__":
    folder = Path(str(resources.files("goodgain.configs"))) / "dataflow"
    for name, written in (("run", run_template), ("stream", stream_template)):
        file = folder / f"metadata-{name}.json"
        file.write_text(written(file.read_text(encoding="utf-8")), encoding="utf-8")
