"""`goodgain init`: a configuration to edit, its schema for editors, and data to try it on."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from goodgain.transforms.core.errors import UsageError

NAME = "init"
HELP = "write a commented configuration to edit, and files to try it on"
EXAMPLE = "goodgain init run --output my-evaluation"

_TRACES = "traces/sample.jsonl"
_CONVERSATIONS = 20
_LOGS = "logs.jsonl"
# By kind of configuration: the shipped file, the name to write it under, and a command to try it
# with.
_KINDS = {
    "run": ("run", "run.yaml", "goodgain run --config run.yaml --input traces --output out"),
    "gate": ("gate", "gate.yaml", "goodgain gate out --config gate.yaml"),
    "nightly": ("nightly", "nightly.yaml", "goodgain nightly --config nightly.yaml"),
    "stream": (
        "stream",
        "stream.yaml",
        "goodgain stream --config stream.yaml --input traces --output out-stream",
    ),
    "rules": ("dedup", "rules.yaml", "goodgain run --rules rules.yaml --input traces --output out"),
    "mapping": (
        "mappings/custom",
        "mapping.yaml",
        f"goodgain convert --from custom {_LOGS} --mapping mapping.yaml --output traces.parquet",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the kind of configuration and the folder."""
    parser.add_argument(
        "kind",
        nargs="?",
        choices=sorted(_KINDS),
        default="run",
        metavar="KIND",
        help=f"which configuration: {', '.join(_KINDS)} (run)",
    )
    parser.add_argument(
        "--output",
        metavar="DIR",
        default=".",
        help="folder for the files (default: the current one)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the files; existing ones are never overwritten."""
    from goodgain.pipeline.terminal.console import result_console

    shipped, name, command = _KINDS[args.kind]
    folder = Path(args.output)
    config = folder / name
    schema = folder / f"{config.stem}.schema.json"
    if config.exists():
        raise UsageError(f"{config} exists already; remove it, or give another --output.")
    configs = resources.files("goodgain.configs")
    text = configs.joinpath(f"{shipped}.yaml").read_text(encoding="utf-8")
    marked = f"# yaml-language-server: $schema={schema.name}\n{text}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        config.write_text(marked, encoding="utf-8")
        schema.write_text(json.dumps(_schema(args.kind), indent=2) + "\n", encoding="utf-8")
        written = [str(config), str(schema)]
        if args.kind == "mapping":
            logs = configs.joinpath(f"mappings/{_LOGS}").read_text(encoding="utf-8")
            written += _write_new(folder / _LOGS, lambda path: path.write_text(logs, "utf-8"))
        else:
            written += _write_new(folder / _TRACES, _write_traces)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {error.strerror}.") from error
    console = result_console()
    console.print("\n".join(f"wrote {one}" for one in written), soft_wrap=True)
    change_folder = "" if args.output == "." else f"cd {folder} && "
    console.print(f"next: {change_folder}{command}", soft_wrap=True)
    return 0


def _write_new(path: Path, write: Callable[[Path], object]) -> list[str]:
    """Write an example unless it exists; returns its path if it was written."""
    if path.exists():
        return []
    write(path)
    return [str(path)]


def _write_traces(path: Path) -> None:
    from goodgain.pipeline.sample import SampleOptions, write_sample

    path.parent.mkdir(parents=True, exist_ok=True)
    options = SampleOptions(conversations=_CONVERSATIONS, bad_share=0)
    write_sample(options, str(path), "jsonl", "none")


def _schema(kind: str) -> object:
    from pydantic import BaseModel

    from goodgain.pipeline.convert.importing.mapping_file import MappingFile
    from goodgain.pipeline.gate.rules import GateFile
    from goodgain.pipeline.nightly.config import NightlyConfig
    from goodgain.pipeline.options.json_schema import schema_of
    from goodgain.pipeline.options.run_config import RunConfig
    from goodgain.pipeline.streaming.config import StreamConfig
    from goodgain.transforms.core.dedup.rules_file import RulesFile

    models: dict[str, type[BaseModel]] = {
        "run": RunConfig,
        "gate": GateFile,
        "nightly": NightlyConfig,
        "stream": StreamConfig,
        "rules": RulesFile,
        "mapping": MappingFile,
    }
    return schema_of(models[kind], partial=kind in ("run", "stream"))
