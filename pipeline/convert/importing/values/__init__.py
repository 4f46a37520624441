"""Values of a trace record from those of other tools."""
