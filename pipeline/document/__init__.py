"""Documents of sentences, tables and figures: their blocks, one format of numbers, renderers."""
