"""The version of the numbers that this program computes."""

from __future__ import annotations

# Increased by every change after which the same traces, rules and options give other numbers: in
# normalisation, de-duplication, gains or ranking metrics. Runs with equal scoring versions are
# comparable, whatever version of the program made them. A test fails when it must be increased.
SCORING_VERSION = 4
