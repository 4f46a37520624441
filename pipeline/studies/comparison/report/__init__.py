"""The report of a comparison: differences, their size and certainty, and examples to look at."""
