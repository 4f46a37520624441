"""Files of the nights that were damaged since."""

import pytest

from goodgain.pipeline.results.finished_run import read_manifest
from goodgain.pipeline.results.folder import MANIFEST
from goodgain.pipeline.studies.nightly.days.history import (
    DAY_FILE,
    HISTORY,
    read_entry,
    read_history,
)
from goodgain.transforms.core.errors import UsageError


def test_files_with_invalid_utf8_are_skipped_or_refused(tmp_path):
    (tmp_path / HISTORY).write_bytes(b'{"date": "\xff"}\n{}\n')
    assert read_history(tmp_path) == []
    (tmp_path / DAY_FILE).write_bytes(b'{"date": "\xff"}\n')
    assert read_entry(tmp_path) is None
    (tmp_path / MANIFEST).write_bytes(b'{"engine": "\xff"}\n')
    with pytest.raises(UsageError, match=r"manifest\.json cannot be read"):
        read_manifest(str(tmp_path))
