"""Beam runners: their settings and their failures."""
