"""`goodgain init`: a configuration to edit, its schema for editors, and data to try it on."""

from __future__ import annotations

import argparse
import json
import shlex
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.results.atomic_files import write_whole
from goodgain.pipeline.settings.init_config import ConfigurationKind, InitConfig, kinds
from goodgain.transforms.core.errors import UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel

NAME = "init"
HELP = "write a commented configuration to edit, and files to try it on"
EXAMPLE = "goodgain init run --output my-evaluation"

_CONVERSATIONS = 60


def _shipped_file(name: str) -> Traversable:
    return resources.files("goodgain.configs").joinpath(name)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the kind of configuration and the folder."""
    add_config_options(parser, InitConfig)


def run(args: argparse.Namespace) -> int:
    """Write the files; existing ones are never overwritten."""
    from goodgain.pipeline.document.console import result_console

    options = read_options(args, InitConfig)
    folder, kind = Path(options.output), kinds()[options.kind]
    if (config := folder / kind.name).exists():
        raise UsageError(f"{config} exists already; remove it, or give another --output.")
    try:
        written = [*_write_configuration(config, options.kind), *_write_examples(folder, kind)]
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {error.strerror}.") from error
    console = result_console()
    console.print("\n".join(f"wrote {path}" for path in written), soft_wrap=True)
    change_folder = "" if options.output == "." else f"cd {shlex.quote(options.output)} && "
    for command in kind.commands:
        console.print(f"next: {change_folder}{command}", soft_wrap=True)
    return 0


def _write_configuration(config: Path, name: str) -> list[Path]:
    """Write a configuration and, if it has one, the schema that its first line names."""
    kind = kinds()[name]
    text = _shipped_file(f"{kind.shipped}.yaml").read_text(encoding="utf-8")
    # In the copy, commands use the copy.
    text = text.replace(f"goodgain:{kind.shipped}", kind.name)
    config.parent.mkdir(parents=True, exist_ok=True)
    if (model := _model(name)) is None:
        write_whole(config, text.encode())
        return [config]
    from goodgain.pipeline.settings.config_file import schema_of

    schema = config.with_name(f"{config.stem}.schema.json")
    write_whole(config, f"# yaml-language-server: $schema={schema.name}\n{text}".encode())
    write_whole(schema, (json.dumps(schema_of(model), indent=2) + "\n").encode())
    return [config, schema]


def _write_examples(folder: Path, kind: ConfigurationKind) -> list[Path]:
    """Write the example data unless they exist; returns the paths that were written."""
    from goodgain.pipeline.sample.writers import write_sample
    from goodgain.pipeline.settings.sample_config import SampleConfig

    shipped = {folder / Path(path).name: _shipped_file(path) for path in kind.beside}
    traces = [] if kind.traces is None else [folder / kind.traces]
    new = [path for path in (*shipped, *traces) if not path.exists()]
    for path in new:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path in shipped:
            write_whole(path, shipped[path].read_bytes())
        else:
            options = SampleConfig(conversations=_CONVERSATIONS, bad_share=0)
            write_sample(options, str(path))
    return new


def _model(name: str) -> type[BaseModel] | None:
    """What a configuration is checked against; None if it is not one of ours."""
    from goodgain.pipeline.convert.importing.mapping_file import MappingFile
    from goodgain.pipeline.settings.run_config import RunConfig
    from goodgain.pipeline.settings.stream_config import StreamConfig
    from goodgain.pipeline.studies.gate.gate_file import GateFile
    from goodgain.pipeline.studies.nightly.config import NightlyConfig
    from goodgain.transforms.core.dedup.rules_file import RulesFile

    models: dict[str, type[BaseModel]] = {
        "run": RunConfig,
        "gate": GateFile,
        "nightly": NightlyConfig,
        "stream": StreamConfig,
        "rules": RulesFile,
        "mapping": MappingFile,
    }
    return models.get(name)
