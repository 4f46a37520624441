"""The gate: whether a run is good enough, by rules that a team writes down."""
