"""What runs and pools leave behind, written and read back: datasets, manifests, warnings."""
