"""The inputs of two arms: that of the command, and the one named by `--against`."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import realpath
from pathlib import Path

from msgspec import Struct

from goodgain.pipeline.inputs.local_files import LOCAL
from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.results.folder import MANIFEST
from goodgain.pipeline.run.plan.evaluation import Evaluation, find_evaluation
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.in_memory import find_in_memory
from goodgain.pipeline.settings.option_fields import flag_of, metadata
from goodgain.pipeline.settings.reading_config import ReadingConfig
from goodgain.pipeline.settings.run_config import ExplainConfig
from goodgain.pipeline.studies.explanation.explain import ExplainedTurn, find_turn
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.option import LIMITS
from goodgain.transforms.core.scoring.options import options_of_values, relevance_threshold_of

# How a run's files are read and labelled may differ between arms; how they are scored may not.
_ALIKE = ("unit", *options_of_values())
_LABELS = ("qrels", "pool")  # given for both arms, or for none
_OF_FILES = (
    "input", "labels", "outcomes",
    *(
        name
        for name, field in ReadingConfig.model_fields.items()
        if metadata(field)["group"] != LIMITS and name not in (*_ALIKE, "rules")
    ),
)  # fmt: skip


class ArmInputs(Struct, frozen=True):
    """Two arms.

    Attributes:
      named: the other arm as the user named it.
    """

    input: Evaluation
    against: Evaluation
    named: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return self.input.traces.size + self.against.traces.size

    def turns(self, conversation_id: str) -> tuple[ExplainedTurn, ExplainedTurn]:
        """The last turn of a conversation in both arms.

        Raises:
          UsageError: one of them has no such conversation.
        """
        turn = find_turn(conversation_id, self.input)
        try:
            return turn, find_turn(conversation_id, self.against)
        except UsageError as error:
            raise UsageError(f"--against {self.named}: {error}") from None


def open_inputs(config: ExplainConfig, against: Sequence[str]) -> ArmInputs:
    """Find the traces of both arms.

    Args:
      config: of the arm `input`.
      against: the folder of a finished run, whose files are read and labelled as by that run; or
        patterns of traces, which are read by the same options.

    Raises:
      UsageError: there are no such traces, both arms have a file in common, or the run was scored
        otherwise.
    """
    named = " ".join(against)
    arm = find_evaluation(config, LOCAL)
    is_folder = len(against) == 1 and (Path(against[0]) / MANIFEST).exists()
    if is_folder:
        other = find_evaluation(_config_of_run(config, arm, against[0]), LOCAL)
    else:
        other = find_evaluation(config.model_copy(update={"input": tuple(against)}), LOCAL)
    shared = _real_paths(arm) & _real_paths(other)
    if shared:
        raise UsageError(
            f"--against {named} is the same input as --input: both read {min(shared)}; name the "
            "traces, or the run, of another arm."
        )
    return ArmInputs(arm, other, named)


def _real_paths(arm: Evaluation) -> set[str]:
    return {realpath(file.path) for file in arm.traces.files}


def _config_of_run(config: ExplainConfig, arm: Evaluation, folder: str) -> ExplainConfig:
    """The configuration for the traces of a finished run."""
    manifest = read_run(folder)
    parameters = manifest.parameters
    if in_memory := find_in_memory(parameters):
        raise UsageError(
            f"--against {folder}: {in_memory} of this run were in memory, so no file has them; "
            "name the traces of another arm, or a run of files."
        )
    values = config.model_dump(mode="json")
    of_run, of_input = (
        {**given, "relevance_threshold": relevance_threshold_of(given)}
        for given in (parameters, values)
    )
    for name in _ALIKE:
        if name in parameters and of_run[name] != of_input[name]:
            flag = flag_of(name, ExplainConfig.model_fields[name])
            raise UsageError(
                f"--against {folder}: this run was scored with {flag} {of_run[name]}, and "
                f"--input with {of_input[name]}; give the options of the run."
            )
    for name in _LABELS:
        if bool(parameters.get(name)) != bool(values[name]):
            has, has_not = (
                ("this run", "--input") if parameters.get(name) else ("--input", "this run")
            )
            raise UsageError(
                f"--against {folder}: {has} has its labels from --{name}, and {has_not} has not; "
                "give the options of the run."
            )
    if manifest.rules_digest != arm.traces.rules_digest:
        raise UsageError(
            f"--against {folder}: this run was scored by other rules for duplicates; give its "
            "--rules."
        )
    return load_config(
        ExplainConfig,
        values | {name: parameters[name] for name in _OF_FILES if name in parameters},
    )
