"""Labels that do not come from the traces (SPEC 8)."""
