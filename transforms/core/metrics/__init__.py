"""The metrics of conversations and iterations: declarations, their functions, the plan of a run."""
