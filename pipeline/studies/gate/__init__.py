"""The gate: whether a run is good enough, by a team's rules."""
