"""Generates files from the code."""
