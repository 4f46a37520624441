"""Makes `python -m goodgain` the command `goodgain`."""

import sys

from goodgain.pipeline.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
