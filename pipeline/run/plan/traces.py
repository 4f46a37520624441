"""The traces of a command, found and looked at before they are read."""

from __future__ import annotations

from collections.abc import Sequence

import xxhash
from msgspec import Struct

from goodgain.pipeline.inputs.storage import Storage
from goodgain.pipeline.run.plan.seen_names import find_names
from goodgain.pipeline.settings.reading_config import DuplicateConfig
from goodgain.transforms.core.config_text import load_rules
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.warnings.field_names import SeenNames


class TraceSet(Struct, frozen=True):
    """Traces, and the rules for duplicates in them.

    Attributes:
      files: empty for traces that the caller holds, and for those of a stream.
      seen: the names in the first records.
      rules_digest: equal for equal rules.
    """

    files: tuple[InputFile, ...]
    seen: SeenNames
    rules: RuleTable
    rules_digest: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


def find_traces(settings: DuplicateConfig, patterns: Sequence[str], storage: Storage) -> TraceSet:
    """Find traces, and look at their first records.

    Raises:
      UsageError: a pattern matches no file, or the rules cannot be used.
    """
    files = tuple(storage.find(patterns))
    return traces_of(settings, files, find_names(files, storage.open, settings.adaptation))


def traces_of(
    settings: DuplicateConfig, files: Sequence[InputFile] = (), seen: SeenNames | None = None
) -> TraceSet:
    """Traces that are found already, or held by the caller.

    Raises:
      UsageError: the rules cannot be used.
    """
    rules = load_rules(settings.rules)
    return TraceSet(
        tuple(files),
        seen or SeenNames(),
        compile_rules(rules, settings.unit),
        xxhash.xxh3_128_hexdigest(rules.model_dump_json().encode()),
    )
