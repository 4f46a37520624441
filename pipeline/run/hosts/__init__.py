"""Where an evaluation runs: a Beam pipeline, or this process."""
