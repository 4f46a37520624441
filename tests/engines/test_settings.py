"""The settings file of the engine scripts: what they install, and where."""

from pathlib import Path

import msgspec
import pytest

from tests.engines.settings import CONFIGURATION, load_settings

TEXT = (CONFIGURATION / "engines.yaml").read_text()


def test_ports_are_distinct() -> None:
    ports = msgspec.structs.astuple(load_settings().ports)
    assert len(set(ports)) == len(ports)


@pytest.mark.parametrize(
    ("change", "to"),
    [("kafka: 19092", "kafka: 50000"), ("task_managers: 3", "task_managers: 0"), ("java:", "jvm:")],
)
def test_a_bad_file_is_refused(tmp_path: Path, change: str, to: str) -> None:
    file = tmp_path / "engines.yaml"
    file.write_text(TEXT.replace(change, to))
    with pytest.raises(msgspec.ValidationError):
        load_settings(file)
