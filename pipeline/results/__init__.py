"""What a run leaves behind: datasets, manifest, warnings."""
