"""The datasets that a run writes (SPEC 6): their columns, their file formats, reading them back."""
