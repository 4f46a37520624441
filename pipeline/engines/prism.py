"""A PrismRunner whose Prism process lives exactly as long as this program.

Started by Beam, Prism is killed by Ctrl-C before anything is flushed, and keeps running when the
program is killed. This runner prevents both.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from apache_beam.runners.portability import job_server
from apache_beam.runners.portability.prism_runner import PrismJobServer, PrismRunner

_EXIT_WITH_PARENT = Path(__file__).with_name("exit_with_parent.py")


class ExitWithParentPrismRunner(PrismRunner):
    """A PrismRunner whose Prism ignores Ctrl-C and exits with this process."""

    def default_job_server(self, options: Any) -> Any:
        """A Prism of its own for each runner."""
        return job_server.StopOnExitJobServer(_ExitWithParentJobServer(options))


class _ExitWithParentJobServer(PrismJobServer):
    def subprocess_cmd_and_endpoint(self) -> tuple[list[str], str]:
        command, endpoint = super().subprocess_cmd_and_endpoint()
        return [sys.executable, str(_EXIT_WITH_PARENT), *command], endpoint
