"""The commands that `goodgain init stream` names run on Prism."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.engines.processes import wait_until
from tests.pipeline.init_commands import ENVIRONMENT, next_commands, shell

PATIENCE = 120


@pytest.mark.engines
@pytest.mark.usefixtures("prism")
def test_commands_for_a_stream_read_the_example_traces(tmp_path: Path) -> None:
    build, stream = next_commands("stream", tmp_path)
    code, printed = shell(build, tmp_path)
    assert code == 0, printed
    output = tmp_path / "out-stream"
    with subprocess.Popen(
        ["sh", "-c", f"exec {stream}"], cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE
    ) as process:
        try:
            wait_until(lambda: any(output.glob("live/*.avro")), PATIENCE, "rows of the traces")
        finally:
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 0, errors.decode()
