"""Golden outputs: digests of what the commands and `goodgain.evaluate` give for fixed inputs.

`make golden` (`python -m tests.golden`) records them again and prints what changed.
"""
