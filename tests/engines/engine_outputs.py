"""A run of Good Gain whose outputs are compared between engines."""

from collections.abc import Sequence
from pathlib import Path

from goodgain.pipeline.sample.writers import write_sample
from goodgain.pipeline.settings.sample_config import SampleConfig
from tests.pipeline.runs import FULL

CONVERSATIONS = 150


def sample_files(folder: Path) -> list[Path]:
    """Two files of traces with all kinds of errors; the second starts with a copy of the first.

    So every record of the first is delivered twice, and some conversations are in both files.
    """
    files = []
    for name, conversations in (("some.avro", CONVERSATIONS // 5), ("all.jsonl", CONVERSATIONS)):
        files.append(folder / name)
        write_sample(SampleConfig(conversations=conversations, bad_share=0.02), str(files[-1]))
    return files


def run_arguments(
    files: list[Path], output: Path, shape: str, options: Sequence[str] = FULL
) -> tuple[str, ...]:
    """`goodgain run`, with all optional outputs unless told otherwise."""
    return (
        *("run", "--input", *map(str, files), "--output", str(output), *options),
        *("--format", shape, "--shards", "3", "--max-rejected", "50%"),
    )
