"""What pages draw: numbers by slice with their texts, definitions of metrics, histograms."""
