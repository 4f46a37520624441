"""The datasets that a run writes (SPEC 6): columns, file formats, writing and reading."""
