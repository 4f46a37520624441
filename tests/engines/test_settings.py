"""The settings file of the engines: versions, folders and ports."""

from pathlib import Path

import msgspec
import pytest

from tests.engines.settings import CONFIGURATION, load_settings

TEXT = (CONFIGURATION / "engines.yaml").read_text()


def test_ports_are_distinct() -> None:
    ports = msgspec.structs.astuple(load_settings().ports)
    assert len(set(ports)) == len(ports)


@pytest.mark.parametrize(
    ("old", "new"),
    [("kafka: 19092", "kafka: 50000"), ("task_managers: 3", "task_managers: 0"), ("java:", "jvm:")],
)
def test_an_invalid_file_is_refused(tmp_path: Path, old: str, new: str) -> None:
    file = tmp_path / "engines.yaml"
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(msgspec.ValidationError):
        load_settings(file)
