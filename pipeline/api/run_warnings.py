"""What is said in Python about the data of a run: its warnings and rejected records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from goodgain.pipeline.results.data_warnings import warn_of_misspelt_names
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.settings.wording import as_argument
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import format_count

if TYPE_CHECKING:
    from goodgain.pipeline.api.result import Run

REJECTED, _UNKNOWN_NAMES = "rejected_records", "unknown_names"


def warnings_of(run: Run, first_rejected: RejectedRecord | None) -> list[DataWarning]:
    """The warnings of a run, those about rejected records and misspelt names included."""
    found = data_warnings(run.manifest)
    records = run.manifest.records
    if text := describe_rejected(run.manifest, first_rejected):
        share = records.rejected / records.read
        found.append(DataWarning(REJECTED, records.rejected, share, text, ""))
    return found + [DataWarning(_UNKNOWN_NAMES, 1, None, line, "") for line in _misspelt_names(run)]


def data_warnings(manifest: RunManifest) -> list[DataWarning]:
    """The warnings of a run: of one that was made here they name options as arguments."""
    return [warning.word(as_argument) for warning in manifest.warnings]


def describe_rejected(manifest: RunManifest, first: RejectedRecord | None) -> str:
    """How many records were rejected, and why the first of them; "" for none."""
    records = manifest.records
    if first is None:
        return ""
    return (
        f"Rejected: {records.rejected:,} of {format_count(records.read, 'record')}; "
        f"see the table `rejected`. First: {_reason_of(first)}"
    )


def check_some_usable(manifest: RunManifest, first_rejected: RejectedRecord | None) -> None:
    """Refuse a run of which nothing is left, for which the command exits with 3.

    Raises:
      GoodGainError: every record was rejected.
    """
    records = manifest.records
    if first_rejected and records.too_many_rejected and records.rejected == records.read:
        findings = [f"{warning.message} {warning.remedy}" for warning in data_warnings(manifest)]
        raise GoodGainError(
            f"Rejected: all of {format_count(records.read, 'record')}. First: "
            f"{' '.join([_reason_of(first_rejected), *findings])} To get the run nevertheless, set "
            "max_rejected='100%'."
        )


def _misspelt_names(run: Run) -> Iterator[str]:
    options = run.manifest.options
    if options.slice or options.cost or options.outcome or options.cluster:
        at_end = list(run.means.where(slice={}, i=None))
        slices = (row["slice"] for row in run.means)
        yield from warn_of_misspelt_names(at_end, slices, run.manifest)


def _reason_of(rejected: RejectedRecord) -> str:
    return f"{rejected.source}, {rejected.position}: {rejected.word(as_argument).reason}"
