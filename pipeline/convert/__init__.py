"""Traces from other tools and TREC files, and what runs found in the formats of other tools."""
