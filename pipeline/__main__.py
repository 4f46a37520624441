"""`goodgain`, also `python -m goodgain`: imports the command line and runs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code; see `goodgain.pipeline.cli.dispatch`."""
    try:
        # Here, so that Ctrl-C during these imports, a tenth of a second, shows no traceback.
        from goodgain.pipeline.cli.dispatch import dispatch

        return dispatch(argv)
    except KeyboardInterrupt:
        from goodgain.pipeline.results.exit_codes import ExitCode

        sys.stderr.write("goodgain: interrupted.\n")
        return ExitCode.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
