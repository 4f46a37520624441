"""The formats that can be imported: one module for each that needs more than a mapping."""
