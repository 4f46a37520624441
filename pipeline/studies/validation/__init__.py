"""Looks at trace files before they are scored: what they contain, and what is wrong with it."""
